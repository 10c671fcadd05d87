// Figures for people.

const numbers = new Intl.NumberFormat('en');

/** A count with its thousands apart. */
export const count = (number) => numbers.format(Math.round(number ?? 0));

/** A count in few characters. */
export function short(number) {
  if (number < 10_000) return count(number);
  return number < 1e6 ? `${(number / 1000).toFixed(1)}k` : `${(number / 1e6).toFixed(1)}M`;
}

/** Seconds as the two largest units. */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const hours = Math.floor(whole / 3600);
  if (hours < 100) return `${hours} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${count(hours)} h`;
}

/** Seconds since a beginning, as hours, minutes and seconds. */
export function elapsed(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const two = (number) => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

const units = [[86_400, 'day'], [3600, 'hour'], [60, 'minute']];

/** The time until a moment in milliseconds since 1970, or since it: the largest unit alone, such as `3 days`. */
export function distance(moment) {
  const seconds = Math.abs(moment - Date.now()) / 1000;
  const [size, unit] = units.find(([least]) => seconds >= least) ?? [1, 'second'];
  const number = Math.round(seconds / size);
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}

/** The hour and minute of a moment, in milliseconds since 1970. */
export function clock(moment, withSeconds = false) {
  const options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  if (withSeconds) options.second = '2-digit';
  return new Date(moment).toLocaleTimeString('en', options);
}

/** A part of a whole, 0 to 1, in percent. */
export function percent(part) {
  if (part > 0 && part < 0.1) return `${(part * 100).toFixed(1)} %`;
  return `${Math.round(part * 100)} %`;
}

/** An average of viewers: small ones with a decimal. */
export const average = (viewers) => (viewers < 100 ? viewers.toFixed(1) : count(viewers));

/** Bytes with a unit. */
export function bytes(number) {
  if (number < 1e6) return `${(number / 1e3).toFixed(0)} kB`;
  return number < 1e9 ? `${(number / 1e6).toFixed(1)} MB` : `${(number / 1e9).toFixed(2)} GB`;
}
