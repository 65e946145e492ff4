/**
 * Samples and how they are taken: in interleaved rounds, so that a busy moment of the machine hits every server alike.
 * What two servers took in one round is compared first, and rounds second.
 */

/**
 * Runs every measurement once per round. Each round begins with another one, so that none always follows the same
 * neighbour. A measurement with `every: n` takes part in each n-th round only (slow ones, where precision matters less).
 * A measurement that fails is reported once and left out from then on; the others go on.
 */
export async function interleave(rounds, measurements, onFailure) {
  const samples = new Map();
  const failed = new Set();
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < measurements.length; at++) {
      const { name, measure, every = 1 } = measurements[(at + round) % measurements.length];
      if (failed.has(name) || round % every !== 0) continue;
      try {
        samples.set(name, [...(samples.get(name) ?? []), await measure(round)]);
      } catch (error) {
        failed.add(name);
        samples.delete(name);
        onFailure(name, error);
      }
    }
  }
  return samples;
}

/** One number out of every sample: `pick(samples, 'ms')` gives `{ ours: [..], floor: [..] }`. */
export function pick(samples, key) {
  return Object.fromEntries([...samples].map(([name, list]) => [name, list.map((sample) => sample[key])]));
}

/** The median of the ratios of each round: both servers had the machine as it was in that minute. */
export function pairedRatio(mine, others) {
  if (mine.length !== others.length) throw new Error('a server missed rounds that another one took part in');
  return median(mine.map((sample, round) => sample / others[round]));
}

export function median(numbers) {
  return percentile(numbers, 0.5);
}

export function percentile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
