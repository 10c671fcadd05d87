// How far away a moment is, in words.

const units = [[86_400, 'day'], [3600, 'hour'], [60, 'minute']];

/** The time until a moment in milliseconds since 1970, or since it: the largest unit alone, such as `3 days`. */
export function distance(moment) {
  const seconds = Math.abs(moment - Date.now()) / 1000;
  const [size, unit] = units.find(([least]) => seconds >= least) ?? [1, 'second'];
  const number = Math.round(seconds / size);
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}
