// What the pages say, in each language that they speak. Every key stands in every language.

const catalogue = {
  en: {
    'watch.title': '{title} · Footlight',
    'watch.waiting': 'The program has not started yet. Playback begins automatically.',
    'watch.none': 'There is no such show.',
    'watch.noneHint': 'Check the address, or ask whoever gave it to you.',
    'watch.ended': 'The show has ended.',
    'watch.endedAt': 'It ended on {time}.',
    'watch.startsAt': 'Starts on {time}',
    'watch.startsIn': 'in {time}',
    'watch.startsNow': 'It begins at any moment.',
    'watch.replay': 'Watch the recording',
    'watch.lastReplay': 'Meanwhile: the last episode',
    'watch.starting': 'Connecting…',
    'watch.stalled': 'Waiting for the network…',
    'watch.failed': 'The connection was lost. Trying again…',
    'watch.full': 'The room is full. Playback begins as soon as there is capacity.',
    'watch.unplayable': 'This browser cannot play the program.',
    'watch.behind': '{seconds} s behind live',
    'watch.watching': '{count} watching',
    'watch.watchingOne': '1 watching',
  },
  de: {
    'watch.title': '{title} · Footlight',
    'watch.waiting': 'Die Sendung hat noch nicht begonnen. Die Wiedergabe startet von selbst.',
    'watch.none': 'Diese Sendung gibt es nicht.',
    'watch.noneHint': 'Prüfe die Adresse, oder frage, wer sie dir gegeben hat.',
    'watch.ended': 'Die Sendung ist vorbei.',
    'watch.endedAt': 'Sie endete am {time}.',
    'watch.startsAt': 'Beginnt am {time}',
    'watch.startsIn': 'in {time}',
    'watch.startsNow': 'Sie beginnt jeden Moment.',
    'watch.replay': 'Aufzeichnung ansehen',
    'watch.lastReplay': 'Bis dahin: die letzte Folge',
    'watch.starting': 'Verbindung wird aufgebaut…',
    'watch.stalled': 'Warten auf das Netz…',
    'watch.failed': 'Die Verbindung ist abgebrochen. Neuer Versuch…',
    'watch.full': 'Der Raum ist voll. Die Wiedergabe beginnt, sobald Platz ist.',
    'watch.unplayable': 'Dieser Browser kann die Sendung nicht abspielen.',
    'watch.behind': '{seconds} s hinter live',
    'watch.watching': '{count} schauen zu',
    'watch.watchingOne': '1 schaut zu',
  },
};

/** The language of the pages: the first of the browser's that they speak, English otherwise. */
export const language = (navigator.languages ?? [navigator.language])
  .map((name) => name.slice(0, 2).toLowerCase())
  .find((name) => name in catalogue) ?? 'en';

/** A text of the catalogue, with its `{values}` filled in. */
export function t(key, values = {}) {
  const text = catalogue[language][key] ?? catalogue.en[key] ?? key;
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** A day and a time, as people of the language write it; `more` names further parts, such as the year. */
export function dateTime(moment, more = {}) {
  const options = { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit', ...more };
  return new Intl.DateTimeFormat(language, options).format(moment);
}

/** The time until something, in milliseconds, as hours, minutes and seconds. */
export function countdown(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const two = (number) => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
