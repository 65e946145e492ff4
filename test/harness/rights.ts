/** For tests about files that may not be read: they also have to hold when the tests run as root. */

/** A command that starts another one without root's right to read everything; nothing is needed for anyone else. */
export const withoutPrivilege: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];
