// The language of a page, and what asks its catalogue for texts.

const languages = ['en', 'de'];
const languageOf = (name) => name.split('-')[0].toLowerCase();

/** The first of the browser's locales whose language the pages speak; numbers and dates are written as it has them. */
export const locale = (navigator.languages ?? [navigator.language])
  .find((name) => languages.includes(languageOf(name))) ?? 'en';

/** The language of the pages. */
export const language = languageOf(locale);

const numbers = new Intl.NumberFormat(locale, { signDisplay: 'negative' });
const plurals = new Intl.PluralRules(language);

/**
 * What asks for the texts of a catalogue: for each language a tree of texts, with the same keys in all of them.
 *
 * A text has its `{values}` by name. Where words depend on a number there is a text for each plural form; `count` chooses.
 *
 * @returns `t`, a text by its key such as `hosts.title`; `wordOf`, the text of a group for a code of the gateway, and
 *   `fallback` for a code that has none; and `fill`, which writes the texts into the markup of the page.
 */
export function catalogue(texts) {
  const find = (key) => key.split('.')
    .reduce((part, name) => (Object.hasOwn(Object(part), name) ? part[name] : undefined), texts[language]);
  const text = (found, values) => {
    const pattern = typeof found === 'string' ? found : found[plurals.select(values.count)] ?? found.other;
    return pattern.replaceAll(/\{(\w+)\}/g, (whole, name) => {
      const value = values[name] ?? whole;
      return typeof value === 'number' ? numbers.format(value) : String(value);
    });
  };
  const t = (key, values = {}) => text(find(key) ?? key, values);
  return {
    t,
    wordOf: (group, code, fallback = code, values = {}) => text(find(`${group}.${code}`) ?? fallback ?? '', values),
    fill() {
      document.documentElement.lang = language;
      for (const element of document.querySelectorAll('[data-text]')) {
        element.replaceChildren(...marked(t(element.dataset.text)));
      }
      for (const element of document.querySelectorAll('[data-label]')) {
        element.setAttribute('aria-label', t(element.dataset.label));
        if ('placeholder' in element) element.placeholder = t(element.dataset.label);
      }
    },
  };
}

/** The parts of a text, in which what is typed stands between backquotes, and keys between brackets. */
export function marked(text) {
  return text.split(/(`[^`]+`|\[[^\]]+\])/).filter(Boolean).map((part) => {
    const tag = { '`': 'code', '[': 'kbd' }[part[0]];
    if (!tag) return part;
    const element = document.createElement(tag);
    element.textContent = part.slice(1, -1);
    return element;
  });
}
