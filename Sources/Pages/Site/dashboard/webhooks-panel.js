// Webhooks: where events are posted to, whether they arrive, and a form for a new one.

import { h, keyed, labelled, setText, show } from '../shared/element.js';
import { ago, clock } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { onceShown } from './once-shown.js';
import { poll } from './poll.js';
import { perform, toast } from './toast.js';

const groups = [
  ['room.*', 'rooms'], ['host.*', 'hosts'], ['output.*', 'outputs'], ['livestream.*', 'livestream'], ['recording.*', 'recordings'],
  ['viewership.*', 'viewers'], ['broadcast.summary', 'summary'], ['mixer.degraded', 'overload'], ['webhook.disabled', 'disabled'],
];

/** What became of an attempt, in words. */
const told = ({ outcome, status }) => `${wordOf('webhooks.outcomes', outcome)}${status ? ` (${status})` : ''}`;

/** A panel for operators. */
export function webhooksPanel() {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft', hidden: true }, t('webhooks.empty'));
  const secret = onceShown();
  const element = h('section', { class: 'card', 'aria-labelledby': 'webhooks-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'webhooks-title' }, t('webhooks.title'))), secret.element, empty, list,
    newWebhook(secret, load));

  async function load() {
    const { webhooks } = await ask('GET', '/v1/webhooks');
    show(empty, webhooks.length === 0);
    keyed(list, webhooks, ({ id }) => id, ({ id }) => webhookRow(id, secret, load), (row, one) => row.update(one));
  }

  return { element, close: poll(5, load) };
}

function webhookRow(id, secret, load) {
  const path = `/v1/webhooks/${encodeURIComponent(id)}`;
  const url = h('span', { class: 'name' });
  const state = h('span', { class: 'badge' });
  const facts = h('p', { class: 'soft' });
  const problem = h('p', { class: 'problem', hidden: true });
  const deliveries = h('ul', { class: 'findings' });
  let one = null;
  const command = (label, work, said) => {
    const button = h('button', { class: 'button small', type: 'button', on: { click: () => perform(button, work, said) } }, label);
    return button;
  };
  const test = command(t('webhooks.test'), async () => {
    // A server has 15 seconds for its answer.
    const attempt = await ask('POST', `${path}/test`, undefined, 20);
    toast(told(attempt), { isError: attempt.outcome !== 'delivered' });
  });
  const failed = command(t('webhooks.failed'), async () => {
    const isShown = failed.getAttribute('aria-expanded') !== 'true';
    failed.setAttribute('aria-expanded', String(isShown));
    deliveries.replaceChildren(...(isShown ? await undelivered(path) : []));
  });
  failed.setAttribute('aria-expanded', 'false');
  const power = command(t('webhooks.turnOff'), async () => {
    await ask('PATCH', path, { enabled: !one.enabled });
    await load();
  });
  const renew = command(t('webhooks.newSecret'), async () => {
    if (!confirm(t('webhooks.newSecretQuestion'))) return;
    const made = await ask('POST', `${path}/rotate`);
    secret.present(t('webhooks.secretOf', { url: made.url }), made.secret);
  });
  const removal = command(t('common.remove'), async () => {
    if (!confirm(t('webhooks.removeQuestion', { url: one.url }))) return;
    await ask('DELETE', path);
    await load();
  });
  const row = h('li', { class: 'output webhook' },
    h('div', { class: 'host-head' }, url, h('span', { class: 'spacer' }), state), facts, problem,
    h('div', { class: 'buttons' }, test, failed, power, renew, removal), deliveries);
  row.update = (next) => {
    one = next;
    setText(url, one.url);
    url.title = one.url;
    const isFailing = one.enabled && one.failures > 0;
    state.className = `badge ${isFailing ? 'warn' : one.enabled ? 'good' : 'bad'}`;
    setText(state, t(isFailing ? 'webhooks.failing' : one.enabled ? 'webhooks.on' : 'webhooks.off'));
    const parts = [one.description, one.types.length > 0 ? one.types.join(', ') : t('webhooks.allEvents'),
      one.show ? t('common.showNamed', { show: one.show }) : one.room ? t('common.roomNamed', { room: one.room }) : '',
      one.pending > 0 ? t('webhooks.pending', { count: one.pending }) : '',
      one.dropped > 0 ? t('webhooks.dropped', { count: one.dropped }) : ''];
    setText(facts, parts.filter(Boolean).join(' · '));
    show(problem, isFailing || !one.enabled);
    setText(problem, one.enabled ? failing(one)
      : wordOf('webhooks.reasons', one.disabled_reason, t('webhooks.reasons.operator')));
    setText(power, t(one.enabled ? 'webhooks.turnOff' : 'webhooks.turnOn'));
  };
  return row;
}

/** Since when deliveries fail, and when the next attempt is. */
function failing({ failures, failing_since: since, next_try_at: next }) {
  const failed = since ? t('webhooks.failuresSince', { count: failures, time: ago(Date.parse(since)) })
    : t('webhooks.failures', { count: failures });
  return next ? `${failed} ${t('webhooks.nextTry', { time: clock(Date.parse(next), true) })}` : failed;
}

/** What was not delivered in the last week, the latest first, as lines. */
async function undelivered(path) {
  const answer = await ask('GET', `${path}/deliveries?page_size=100`);
  const lines = answer.deliveries.filter(({ state }) => state !== 'delivered').slice(0, 20).map((delivery) => {
    const last = delivery.attempts.at(-1);
    const facts = [
      ago(Date.parse(delivery.at)), delivery.room ? t('common.roomNamed', { room: delivery.room }) : '',
      t(delivery.state === 'failed' ? 'webhooks.givenUp' : 'webhooks.waiting'),
      last ? t('webhooks.tries', { count: delivery.tries }) : '', last ? told(last) : '',
    ];
    return h('li', {}, h('strong', {}, delivery.type), ` ${facts.filter(Boolean).join(' · ')}`);
  });
  return lines.length > 0 ? lines : [h('li', {}, t('webhooks.allDelivered'))];
}

/** The form for a new webhook, whose secret is shown once. */
function newWebhook(secret, load) {
  const url = h('input', { class: 'field', name: 'url', type: 'url', required: true, autocomplete: 'off',
    spellcheck: 'false' });
  const room = h('input', { class: 'field', name: 'room', autocomplete: 'off', spellcheck: 'false' });
  const shows = h('select', { class: 'field', name: 'show' });
  const all = h('option', { value: '' }, t('webhooks.allShows'));
  const choose = async () => {
    const { shows: present } = await ask('GET', '/v1/shows');
    shows.replaceChildren(all, ...present.map(({ name, title }) => h('option', { value: name }, title || name)));
    update();
  };
  const roomChoice = labelled(t('common.roomOrAll'), room);
  // The rooms of a show are not chosen.
  const update = () => show(roomChoice, !shows.value);
  shows.addEventListener('change', update);
  const others = h('input', { class: 'field', name: 'types', autocomplete: 'off', spellcheck: 'false',
    placeholder: 'hand.raised, asset.*' });
  const boxes = groups.map(([type, group]) => ({ type, text: t(`webhooks.groups.${group}`), input: h('input', { type: 'checkbox', value: type }) }));
  const button = h('button', { class: 'button', type: 'submit' }, t('webhooks.add'));
  const form = h('form', { class: 'settings', on: { submit: (event) => {
    event.preventDefault();
    perform(button, async () => {
      const chosen = boxes.filter(({ input }) => input.checked).map(({ type }) => type);
      const named = others.value.split(',').map((type) => type.trim()).filter(Boolean);
      const body = { url: url.value, types: [...chosen, ...named] };
      if (shows.value) body.show = shows.value;
      else if (room.value) body.room = room.value;
      const made = await ask('POST', '/v1/webhooks', body);
      form.reset();
      update();
      secret.present(t('webhooks.secretOf', { url: made.url }), made.secret);
      await load();
    });
  } } }, h('div', { class: 'choices' }, labelled(t('webhooks.address'), url), labelled(t('webhooks.show'), shows), roomChoice),
  h('fieldset', { class: 'days' }, h('legend', { class: 'soft' }, t('webhooks.events')),
    ...boxes.map(({ text, input }) => h('label', { class: 'switch' }, input, text))),
  labelled(t('webhooks.otherEvents'), others), h('div', { class: 'buttons' }, button));
  const opener = h('summary', {}, t('webhooks.create'));
  const details = h('details', { class: 'more' }, opener, form);
  details.addEventListener('toggle', () => { if (details.open) perform(opener, choose); });
  return details;
}
