// A new show in one form: title, kind, time, hosts.

import { h, icon } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { perform } from './toast.js';

const kinds = ['interview', 'panel', 'webinar', 'one_host', 'music'];

/** The view of the form. */
export function newShowView() {
  const input = (name, label, properties = {}, hint = null) => {
    const field = h('input', { class: 'field', name, autocomplete: 'off', ...properties });
    return { field, element: h('label', { class: 'choice' }, h('span', {}, label), field,
      hint ? h('span', { class: 'soft hint' }, hint) : null) };
  };
  const title = input('title', t('newShow.name'), { required: true, maxlength: 200 });
  const name = input('name', t('newShow.address'), { required: true, pattern: '[A-Za-z0-9_\\-]{1,64}' },
    t('newShow.addressHint'));
  let isOwnName = false;
  title.field.addEventListener('input', () => {
    if (!isOwnName) name.field.value = nameOf(title.field.value);
  });
  name.field.addEventListener('input', () => { isOwnName = name.field.value !== ''; });
  const kind = h('select', { class: 'pick', name: 'kind' }, ...kinds.map((value) => h('option', { value }, t(`newShow.kinds.${value}`))));
  const time = input('time', t('newShow.time'), { type: 'datetime-local' }, t('newShow.timeHint'));
  const weekly = h('input', { type: 'checkbox', name: 'weekly' });
  const hosts = h('textarea', { class: 'field', name: 'hosts', rows: 4, spellcheck: 'false',
    placeholder: t('newShow.hostsExample') });
  const recording = h('input', { type: 'checkbox', name: 'recording' });
  const button = h('button', { class: 'button main', type: 'submit' }, t('newShow.create'));
  const form = h('form', { class: 'card new-show', 'aria-labelledby': 'new-title', on: { submit: (event) => {
    event.preventDefault();
    perform(button, create);
  } } },
  h('div', { class: 'room-head' },
    h('a', { class: 'button plain', href: '#/', 'aria-label': t('page.allShows') }, icon('back')),
    h('h1', { id: 'new-title' }, t('newShow.title'))),
  title.element, name.element,
  h('label', { class: 'choice' }, h('span', {}, t('newShow.kind')), kind),
  time.element,
  h('label', { class: 'switch' }, weekly, t('newShow.weekly')),
  h('label', { class: 'choice' }, h('span', {}, t('newShow.hosts')), hosts,
    h('span', { class: 'soft hint' }, t('newShow.hostsHint'))),
  h('label', { class: 'switch' }, recording, t('newShow.record')),
  h('div', { class: 'buttons' }, button));

  async function create() {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const body = {
      name: name.field.value, title: title.field.value, time_zone: zone, recording: recording.checked,
      seats: seatsOf(hosts.value),
    };
    const start = time.field.value ? new Date(time.field.value) : null;
    if (start && weekly.checked) {
      const weekday = start.toLocaleDateString('en', { weekday: 'long' }).toLowerCase();
      body.schedule = { weekdays: [weekday], time: time.field.value.slice(11, 16) };
    }
    const made = await ask('POST', `/v1/shows?template=${kind.value}`, body);
    const path = `/v1/shows/${encodeURIComponent(made.name)}/episodes`;
    const episode = start ? { planned_at: start.toISOString() } : {};
    try {
      if (!made.next) await ask('POST', path, episode);
      else if (Date.parse(made.next.planned_at) !== start.getTime()) await ask('PATCH', `${path}/${made.next.id}`, episode);
    } finally {
      // Whatever became of its first episode: the show is there.
      location.hash = `#/show/${encodeURIComponent(made.name)}`;
    }
  }
  return { element: form, close: () => undefined };
}

/** A name for addresses that is made of a title. */
export function nameOf(title) {
  return title.normalize('NFD').replaceAll(/[̀-ͯ]/g, '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '').slice(0, 64);
}

/** An identity that is made of a name, or of a place where that has no letter that identities have. */
export const identityOf = (name, place) => nameOf(name) || `host-${place + 1}`;

/** The seats of the lines of a text, each with an identity of its own. */
export function seatsOf(text) {
  const taken = new Set();
  return text.split('\n').map((line) => line.trim()).filter(Boolean).map((line, place) => {
    let identity = identityOf(line, place);
    while (taken.has(identity)) identity = `${identity.slice(0, 60)}-${place + 1}`;
    taken.add(identity);
    return { identity, display_name: line };
  });
}
