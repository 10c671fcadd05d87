// How the gateway and its machine are doing, in words: what needs attention first, then the rest, then the log.

import { h, icon, keyed, labelled, setText, show } from '../shared/element.js';
import { ago, clock } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { saveFile } from './downloads.js';
import { adviceOf, findingOf, setWords } from './gateway-texts.js';
import { poll } from './poll.js';
import { perform } from './toast.js';

const tones = { problem: 'bad', warning: 'warn', ok: 'good' };

/** The view; `onHealth` is called with whether the gateway responds. */
export function systemView({ mayCommand, onHealth }) {
  const state = h('span', { class: 'badge' });
  const version = h('span', { class: 'soft' });
  const alerts = findingsList();
  const none = h('p', { class: 'soft' }, t('system.nothing'));
  const rest = findingsList();
  const log = mayCommand ? logPanel() : null;
  const download = h('button', { class: 'button', type: 'button', on: {
    click: () => perform(download, saveDiagnostics),
  } }, icon('download'), t('system.diagnostics'));
  const element = h('div', { class: 'administration' },
    h('div', { class: 'room-head' },
      h('a', { class: 'button plain', href: '#/', 'aria-label': t('page.allShows') }, icon('back')),
      h('h1', {}, t('system.title')), state, version, h('span', { class: 'spacer' }), mayCommand ? download : null),
    h('section', { class: 'card', 'aria-labelledby': 'alerts-title' },
      h('div', { class: 'card-head' }, h('h2', { id: 'alerts-title' }, t('system.attention'))),
      h('div', { role: 'status' }, none, alerts.element)),
    h('section', { class: 'card', 'aria-labelledby': 'state-title' },
      h('div', { class: 'card-head' }, h('h2', { id: 'state-title' }, t('system.state'))), rest.element),
    log?.element);
  const stop = poll(5, async () => {
    const system = await ask('GET', '/v1/system');
    state.className = `badge ${system.ready ? 'good' : 'bad'}`;
    setText(state, t(system.ready ? 'system.ready' : 'system.notReady'));
    setText(version, t('system.version', { version: system.version, time: ago(Date.parse(system.started_at)) }));
    const serious = system.findings.filter(({ level }) => level !== 'ok');
    show(none, serious.length === 0);
    alerts.update(serious);
    rest.update(system.findings.filter(({ level }) => level === 'ok'));
  }, onHealth);
  return {
    element,
    close() {
      stop();
      log?.close();
    },
  };
}

/** A list of findings, the one of a subject in the same row each time. */
function findingsList() {
  const list = h('ul', { class: 'state' });
  return {
    element: list,
    update(findings) {
      const seen = new Map();
      const named = findings.map((finding) => {
        const place = (seen.get(finding.subject) ?? 0) + 1;
        seen.set(finding.subject, place);
        return { ...finding, key: `${finding.subject} ${place}` };
      });
      keyed(list, named, ({ key }) => key, findingRow, (row, finding) => row.update(finding));
    },
  };
}

function findingRow() {
  const badge = h('span', { class: 'badge' });
  const message = h('span', {});
  const advice = h('p', { class: 'soft' });
  const row = h('li', {}, badge, h('div', {}, message, advice));
  row.update = (finding) => {
    badge.className = `badge ${tones[finding.level] ?? tones.ok}`;
    setText(badge, wordOf('system.levels', finding.level));
    setWords(message, findingOf(finding), finding.message);
    setWords(advice, adviceOf(finding), finding.advice);
    show(advice, finding.advice !== '');
  };
  return row;
}

/** The latest messages of the log, by severity and room. */
function logPanel() {
  const level = h('select', { class: 'pick', name: 'level' },
    ...['notice', 'warning', 'error'].map((value) => h('option', { value }, t(`system.from.${value}`))));
  const room = h('input', { class: 'field', name: 'room', autocomplete: 'off', spellcheck: 'false' });
  const list = h('ul', { class: 'log' });
  const empty = h('p', { class: 'soft', hidden: true }, t('system.noMessage'));
  const element = h('section', { class: 'card', 'aria-labelledby': 'log-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'log-title' }, t('system.log'))),
    h('div', { class: 'choices' },
      labelled(t('system.severity'), level),
      labelled(t('common.room'), room)),
    empty, list);

  async function load() {
    const query = new URLSearchParams({ level: level.value });
    if (room.value) query.set('room', room.value);
    const { events } = await ask('GET', `/v1/system/events?${query}`);
    const latest = events.slice(0, 100);
    show(empty, latest.length === 0);
    keyed(list, latest, (event) => JSON.stringify(event), eventRow, () => undefined);
  }
  for (const field of [level, room]) field.addEventListener('change', () => load().catch(() => undefined));
  return { element, close: poll(5, load) };
}

function eventRow({ at, level, message, metadata }) {
  const tone = level === 'notice' ? '' : level === 'warning' ? 'warn' : 'bad';
  const values = Object.entries(metadata).toSorted(([a], [b]) => a.localeCompare(b)).map(([name, value]) => `${name}=${value}`);
  return h('li', {}, h('time', { class: 'soft', datetime: at, title: at }, clock(Date.parse(at), true)),
    h('span', { class: `badge ${tone}` }, wordOf('system.severities', level)),
    h('span', { lang: 'en' }, message, values.length > 0 ? h('span', { class: 'soft' }, ` ${values.join(' ')}`) : null));
}

async function saveDiagnostics() {
  const bundle = await ask('GET', '/v1/system/diagnostics');
  const name = `footlight-diagnostics-${bundle.made_at.slice(0, 10)}.json`;
  saveFile([JSON.stringify(bundle, null, 2)], 'application/json', name);
}
