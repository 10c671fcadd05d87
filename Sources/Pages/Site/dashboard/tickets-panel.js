// Who may watch a show: everyone, those who know a passphrase, or those who have a ticket; and its tickets.

import { h, keyed, labelled, setText, show as setShown } from '../shared/element.js';
import { dateTime } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { poll } from './poll.js';
import { codeButton } from './qr-code.js';
import { copy, perform } from './toast.js';

const rules = ['public', 'passphrase', 'token'];
/** Seconds for which a new ticket is good unless another end is chosen. */
const lifetime = 7 * 86_400;

/** A card for operators with the rule and the tickets of a show by its name. */
export function ticketsPanel({ base, name }) {
  const rule = h('select', { class: 'pick', 'aria-describedby': 'hint-rule' },
    ...rules.map((value) => h('option', { value }, t(`tickets.rules.${value}`))));
  const passphrase = h('input', { class: 'field', minlength: 6, maxlength: 128, autocomplete: 'off', spellcheck: 'false' });
  const secret = labelled(t('tickets.passphrase'), passphrase);
  const save = h('button', { class: 'button main', type: 'submit' }, t('settings.save'));
  const hint = h('p', { class: 'soft hint', id: 'hint-rule' });
  let show = null;
  let isDirty = false;
  const adapt = () => {
    const isNeeded = rule.value === 'passphrase';
    setShown(secret, isNeeded);
    // The one that there is stays, and is never shown again.
    passphrase.required = isNeeded && show?.room.access.rule !== 'passphrase';
    passphrase.placeholder = passphrase.required ? '' : t('tickets.unchanged');
    setText(hint, t(`tickets.hints.${rule.value}`));
  };
  const form = h('form', { class: 'settings', on: {
    input: () => {
      isDirty = true;
      adapt();
    },
    submit: (event) => {
      event.preventDefault();
      perform(save, async () => {
        const access = { rule: rule.value, ...(passphrase.value && !secret.hidden ? { passphrase: passphrase.value } : {}) };
        if (show.current) await ask('PUT', roomPath(name, '/access'), access);
        show = await ask('PATCH', base, { room: { access } });
        passphrase.value = '';
        isDirty = false;
        fill();
      }, t('common.saved'));
    },
  } }, labelled(t('tickets.rule'), rule), hint, secret, h('div', { class: 'buttons' }, save));

  const list = h('ul', { class: 'outputs' });
  const heading = h('h3', {}, t('tickets.title'));
  const empty = h('p', { class: 'soft' }, t('tickets.empty'));
  const holder = h('input', { class: 'field', maxlength: 200, autocomplete: 'off' });
  const devices = h('input', { class: 'field', type: 'number', min: 1, max: 100, value: 1, required: true });
  const end = h('input', { class: 'field', type: 'datetime-local', required: true });
  const make = h('button', { class: 'button', type: 'submit' }, t('tickets.make'));
  const maker = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(make, async () => {
      await ask('POST', roomPath(name, '/tickets'), {
        name: holder.value, devices: Number(devices.value), expires_at: new Date(end.value).toISOString(),
      });
      holder.value = '';
      await load();
    }, t('tickets.made'));
  } } }, labelled(t('tickets.name'), holder), labelled(t('tickets.devices'), devices), labelled(t('tickets.end'), end), make);
  const tickets = h('div', { class: 'stack', hidden: true }, heading, empty, list, maker);
  const element = h('section', { class: 'card', 'aria-labelledby': 'access-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'access-title' }, t('tickets.access'))), form, tickets);
  const local = new Date(Date.now() + (lifetime - new Date().getTimezoneOffset() * 60) * 1000);
  end.value = local.toISOString().slice(0, 16);

  async function load() {
    const all = [];
    let next = '';
    // As many as a page of the list shows at a time; the rest are in the API's table.
    for (let page = 0; page < 2 && next !== null; page += 1) {
      const query = next ? `&page_token=${encodeURIComponent(next)}` : '';
      const answer = await ask('GET', roomPath(name, `/tickets?page_size=100${query}`));
      all.push(...answer.tickets.filter(({ revoked_at: revoked }) => !revoked));
      next = answer.meta?.next_page_token ?? null;
    }
    setShown(empty, all.length === 0);
    keyed(list, all.reverse(), ({ id }) => id, ticketRow, (row, ticket) => row.update(ticket));
  }

  function ticketRow({ id, url, name: own }) {
    const title = own || t('tickets.unnamed');
    const facts = h('p', { class: 'soft' });
    const copying = h('button', { class: 'button small', type: 'button', on: {
      click: () => copy(url, t('common.copied'), t('common.noCopy')),
    } }, t('code.copy'));
    const revoke = h('button', { class: 'button small', type: 'button', on: { click: () => {
      if (!confirm(t('tickets.revokeQuestion', { name: title }))) return;
      perform(revoke, async () => {
        await ask('DELETE', roomPath(name, `/tickets/${encodeURIComponent(id)}`));
        await load();
      }, t('tickets.revoked'));
    } } }, t('tickets.revoke'));
    const code = codeButton({
      kind: 'small', title: () => t('code.ticket', { name: title }), link: () => url, hint: t('code.ticketHint'),
    });
    const row = h('li', { class: 'output' }, h('div', { class: 'host-head' }, h('span', { class: 'name' }, title)), facts,
      h('div', { class: 'buttons' }, copying, code, revoke));
    row.update = ({ watching, devices: most, expires_at: expiry }) => {
      setText(facts, [t('tickets.watching', { count: most, watching }), t('tickets.until', { time: dateTime(Date.parse(expiry)) })]
        .join(' · '));
    };
    return row;
  }

  function fill() {
    rule.value = show.room.access.rule;
    setShown(tickets, rule.value !== 'public');
    adapt();
  }

  return {
    element,
    close: poll(10, async () => {
      if (!tickets.hidden && !tickets.closest('[role="tabpanel"]')?.hidden) await load();
    }),
    update(next) {
      const isFirst = show === null;
      show = next;
      if (isDirty || form.contains(document.activeElement)) return;
      fill();
      if (isFirst && !tickets.hidden) load().catch(() => undefined);
    },
  };
}
