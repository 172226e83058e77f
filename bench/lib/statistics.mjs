// @ts-check
/** The value below which the given share of the samples lies; NaN without samples. @param {readonly number[]} samples @param {number} share */
export function percentile(samples, share) {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** @param {readonly number[]} samples */
export function median(samples) {
  return percentile(samples, 0.5);
}

/** @param {readonly number[]} samples */
export function sum(samples) {
  return samples.reduce((total, sample) => total + sample, 0);
}
