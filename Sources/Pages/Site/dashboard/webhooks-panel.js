// Webhooks: where events are posted to, whether they arrive, and a form for a new one.

import { h, keyed, labelled, setText, show } from '../shared/element.js';
import { clock, count, distance } from '../shared/format.js';
import { ask } from './api.js';
import { onceShown } from './once-shown.js';
import { poll } from './poll.js';
import { perform, toast } from './toast.js';

const groups = [
  ['room.*', 'Rooms'], ['host.*', 'Hosts come and go'], ['output.*', 'Outputs'], ['livestream.*', 'Livestream'],
  ['recording.*', 'Recordings'], ['viewership.*', 'Viewers'], ['broadcast.summary', 'Summary of a broadcast'],
  ['mixer.degraded', 'Overload'], ['webhook.disabled', 'Disabled webhooks'],
];
const outcomes = {
  delivered: 'accepted', refused: 'refused', redirect: 'redirected elsewhere', gone: 'answered that it is gone',
  timeout: 'did not answer in time', closed: 'closed the connection', unreachable: 'cannot be reached',
  name_not_found: 'has a host name that is not known', tls: 'has no valid certificate', forbidden: 'is at a forbidden address',
};
const reasons = {
  operator: 'turned off', gone: 'turned off: it answered that it is gone', failing: 'turned off after failing for long',
};

/** What became of an attempt, in words. */
const told = ({ outcome, status }) => `${outcomes[outcome] ?? outcome}${status ? ` (${status})` : ''}`;

/** A panel for operators. */
export function webhooksPanel() {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft', hidden: true }, 'Nothing is told to other servers.');
  const secret = onceShown();
  const element = h('section', { class: 'card', 'aria-labelledby': 'webhooks-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'webhooks-title' }, 'Webhooks')), secret.element, empty, list,
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
  const test = command('Send a test', async () => {
    // A server has 15 seconds for its answer.
    const attempt = await ask('POST', `${path}/test`, undefined, 20);
    toast(`The server ${told(attempt)}`, { isError: attempt.outcome !== 'delivered' });
  });
  const failed = command('Failed deliveries', async () => {
    const isShown = failed.getAttribute('aria-expanded') !== 'true';
    failed.setAttribute('aria-expanded', String(isShown));
    deliveries.replaceChildren(...(isShown ? await undelivered(path) : []));
  });
  failed.setAttribute('aria-expanded', 'false');
  const power = command('Turn off', async () => {
    await ask('PATCH', path, { enabled: !one.enabled });
    await load();
  });
  const renew = command('New secret', async () => {
    if (!confirm('Make a new secret? The present one stays good for a day.')) return;
    const made = await ask('POST', `${path}/rotate`);
    secret.present(`Secret of ${made.url}`, made.secret);
  });
  const removal = command('Remove', async () => {
    if (!confirm(`Remove the webhook to ${one.url}, with what waits for it?`)) return;
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
    setText(state, isFailing ? 'failing' : one.enabled ? 'on' : 'off');
    const parts = [one.description, one.types.length > 0 ? one.types.join(', ') : 'all events',
      one.show ? `show ${one.show}` : one.room ? `room ${one.room}` : '', one.pending > 0 ? `${count(one.pending)} waiting` : '',
      one.dropped > 0 ? `${count(one.dropped)} dropped` : ''];
    setText(facts, parts.filter(Boolean).join(' · '));
    show(problem, isFailing || !one.enabled);
    setText(problem, one.enabled ? failing(one) : `${reasons[one.disabled_reason] ?? 'turned off'}; turn it on to go on`);
    setText(power, one.enabled ? 'Turn off' : 'Turn on');
  };
  return row;
}

/** Since when deliveries fail, and when the next attempt is. */
function failing({ failures, failing_since: since, next_try_at: next }) {
  const times = failures === 1 ? 'once' : `${count(failures)} times`;
  const begin = since ? `, for ${distance(Date.parse(since))}` : '';
  return `Failed ${times}${begin}.${next ? ` The next try is at ${clock(Date.parse(next), true)}.` : ''}`;
}

/** What was not delivered in the last week, the latest first, as lines. */
async function undelivered(path) {
  const answer = await ask('GET', `${path}/deliveries?page_size=100`);
  const lines = answer.deliveries.filter(({ state }) => state !== 'delivered').slice(0, 20).map((delivery) => {
    const last = delivery.attempts.at(-1);
    const when = `${distance(Date.parse(delivery.at))} ago`;
    const tries = delivery.tries === 1 ? '1 try' : `${delivery.tries} tries`;
    return h('li', {}, h('strong', {}, delivery.type), ` ${when}${delivery.room ? `, room ${delivery.room}` : ''}: `,
      delivery.state === 'failed' ? 'given up' : 'waiting', last ? `, ${tries}; the server ${told(last)}` : '');
  });
  return lines.length > 0 ? lines : [h('li', {}, 'All of the latest 100 messages were delivered.')];
}

/** The form for a new webhook, whose secret is shown once. */
function newWebhook(secret, load) {
  const url = h('input', { class: 'field', name: 'url', type: 'url', required: true, autocomplete: 'off',
    spellcheck: 'false' });
  const room = h('input', { class: 'field', name: 'room', autocomplete: 'off', spellcheck: 'false' });
  const shows = h('select', { class: 'field', name: 'show' });
  const all = h('option', { value: '' }, 'All shows');
  const choose = async () => {
    const { shows: present } = await ask('GET', '/v1/shows');
    shows.replaceChildren(all, ...present.map(({ name, title }) => h('option', { value: name }, title || name)));
    update();
  };
  const roomChoice = labelled('Room, empty for all', room);
  // The rooms of a show are not chosen.
  const update = () => show(roomChoice, !shows.value);
  shows.addEventListener('change', update);
  const others = h('input', { class: 'field', name: 'types', autocomplete: 'off', spellcheck: 'false',
    placeholder: 'hand.raised, asset.*' });
  const boxes = groups.map(([type, text]) => ({ type, text, input: h('input', { type: 'checkbox', value: type }) }));
  const button = h('button', { class: 'button', type: 'submit' }, 'Add webhook');
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
      secret.present(`Secret of ${made.url}`, made.secret);
      await load();
    });
  } } }, h('div', { class: 'choices' }, labelled('Address', url), labelled('Show', shows), roomChoice),
  h('fieldset', { class: 'days' }, h('legend', { class: 'soft' }, 'Events; all of them if none is chosen'),
    ...boxes.map(({ text, input }) => h('label', { class: 'switch' }, input, text))),
  labelled('Other events', others), h('div', { class: 'buttons' }, button));
  const opener = h('summary', {}, 'New webhook');
  const details = h('details', { class: 'more' }, opener, form);
  details.addEventListener('toggle', () => { if (details.open) perform(opener, choose); });
  return details;
}
