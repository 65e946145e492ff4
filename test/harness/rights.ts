/** For tests about unreadable files, which root could read: a command that starts a program without that right. */

export const withoutPrivilege: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];
