// Figures, dates and times for people, as those who speak the page's language write them.

import { language, locale } from './texts.js';

const numbers = new Intl.NumberFormat(locale);
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });

/** A number with so many decimals. */
export const decimal = (number, digits) =>
  number.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** A count with its thousands apart. */
export const count = (number) => numbers.format(Math.round(number ?? 0));

/** A count in few characters. */
export const short = (number) => (number < 10_000 ? count(number) : compact.format(number));

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

const units = [[86_400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']];
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always' });

function distance(seconds, sign) {
  const [size, unit] = units.find(([least]) => seconds >= least) ?? units.at(-1);
  return relative.format(sign * Math.round(Math.max(0, seconds) / size), unit);
}

/** How long ago a moment was, in milliseconds since 1970: in the largest unit alone, such as `3 days ago`. */
export const ago = (moment) => distance((Date.now() - moment) / 1000, -1);

/** How far a moment is ahead, such as `in 3 days`. */
export const ahead = (moment) => distance((moment - Date.now()) / 1000, 1);

/** The hour and minute of a moment, in milliseconds since 1970. */
export function clock(moment, withSeconds = false) {
  const options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  if (withSeconds) options.second = '2-digit';
  return new Date(moment).toLocaleTimeString(locale, options);
}

/** A day and a time; `more` names further parts, such as the year. */
export function dateTime(moment, more = {}) {
  const options = { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit', ...more };
  return new Intl.DateTimeFormat(locale, options).format(moment);
}

/** A day and a time in a time zone, which is named where the browser has another. */
export function timeIn(zone, moment) {
  const isOwn = !zone || zone === new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return dateTime(moment, isOwn ? {} : { timeZone: zone, timeZoneName: 'short' });
}

/** The name of a day of the week, Monday being 0. */
export const weekday = (number) =>
  new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + number));

/** A part of a whole, 0 to 1, in percent. */
export const percent = (part) => `${decimal(part * 100, part > 0 && part < 0.1 ? 1 : 0)} %`;

/** An average of viewers: small ones with a decimal. */
export const average = (viewers) => (viewers < 100 ? decimal(viewers, 1) : count(viewers));

/** Bytes with a unit. */
export function bytes(number) {
  if (number < 1e6) return `${decimal(number / 1e3, 0)} kB`;
  return number < 1e9 ? `${decimal(number / 1e6, 1)} MB` : `${decimal(number / 1e9, 2)} GB`;
}
