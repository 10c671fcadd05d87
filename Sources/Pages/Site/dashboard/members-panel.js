// The audience members of a room, who joined by an app: their hands, and invitations to the stage.

import { h, keyed, setText, show } from '../shared/element.js';
import { clock } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { APIError, ask, roomPath } from './api.js';
import { poll } from './poll.js';
import { perform } from './toast.js';

const mostShown = 100;

/** A panel for a room; hidden while nobody joined. */
export function membersPanel(room, { mayCommand }) {
  const number = h('span', { class: 'badge' });
  const list = h('ul', { class: 'hosts' });
  const rest = h('p', { class: 'soft', hidden: true });
  const raised = h('span', { class: 'badge warn', role: 'status', hidden: true });
  const element = h('section', { class: 'card members', 'aria-labelledby': 'members-title', hidden: true },
    h('div', { class: 'card-head' }, h('h2', { id: 'members-title' }, t('members.title')), h('span', { class: 'spacer' }),
      raised, number), list, rest);
  /** The last invitation of each identity. */
  const invitations = new Map();

  async function load() {
    const [{ participants, meta }, { hands }] = await Promise.all([
      ask('GET', roomPath(room, `/participants?mode=RECV_ONLY&page_size=${mostShown}`)),
      ask('GET', roomPath(room, '/hands?page_size=100')),
    ]);
    await followInvitations();
    const byMember = new Map(hands.map((hand) => [hand.participant_sid, hand]));
    // Whoever wants to speak comes first, and of those the one who has waited longest.
    const order = new Map(hands.map((hand, place) => [hand.participant_sid, place]));
    const placeOf = ({ sid }) => order.get(sid) ?? hands.length;
    const sorted = participants.toSorted((a, b) => placeOf(a) - placeOf(b));
    show(element, participants.length > 0);
    setText(number, `${participants.length}${meta?.next_page_token ? '+' : ''}`);
    show(raised, hands.length > 0);
    setText(raised, t('members.raised', { count: hands.length }));
    show(rest, Boolean(meta?.next_page_token));
    setText(rest, t('members.first', { count: mostShown }));
    keyed(list, sorted, ({ sid }) => sid, memberRow, (row, member) => row.update(member, byMember.get(member.sid)));
  }

  /** Asks what became of the invitations that are not answered yet. */
  async function followInvitations() {
    for (const [identity, invitation] of invitations) {
      if (invitation.state !== 'ringing') continue;
      try {
        invitations.set(identity, await ask('GET', `/v1/invitations/${invitation.sid}`));
      } catch (error) {
        if (!(error instanceof APIError)) throw error;
        invitations.delete(identity);
      }
    }
  }

  function memberRow({ sid, identity }) {
    const name = h('span', { class: 'name' });
    const own = h('span', { class: 'soft identity' });
    const badge = h('span', { class: 'badge warn', hidden: true });
    const told = h('p', { class: 'soft', 'aria-live': 'polite' });
    let hand = null;
    const button = (label, work, said) => {
      const made = h('button', { class: 'button small', type: 'button', on: {
        click: () => perform(made, async () => {
          await work();
          await load();
        }, said),
      } }, label);
      return made;
    };
    const answer = (kind) => () => ask('POST', roomPath(room, `/hands/${encodeURIComponent(hand.sid)}/${kind}`));
    const accept = button(t('members.accept'), answer('accept'), t('members.accepted'));
    const reject = button(t('members.reject'), answer('reject'));
    const invite = button(t('members.invite'), async () => {
      invitations.set(identity, await ask('POST', roomPath(room, '/invitations'), { identities: [identity] }));
    });
    const cancel = button(t('members.cancel'), async () => {
      invitations.set(identity, await ask('POST', `/v1/invitations/${invitations.get(identity).sid}/cancel`));
    });
    const removal = button(t('common.remove'), async () => {
      if (!confirm(t('members.removeQuestion', { name: name.textContent }))) return;
      await ask('DELETE', roomPath(room, `/participants/${encodeURIComponent(sid)}`));
    });
    const row = h('li', { class: 'output' }, h('div', { class: 'host-head' }, name, own, h('span', { class: 'spacer' }), badge),
      told, mayCommand ? h('div', { class: 'buttons' }, accept, reject, invite, cancel, removal) : null);
    row.update = (member, up) => {
      hand = up ?? null;
      const invitation = invitations.get(identity);
      const isRinging = invitation?.state === 'ringing';
      setText(name, member.display_name || member.identity);
      setText(own, member.display_name && member.display_name !== member.identity ? member.identity : '');
      show(badge, hand !== null);
      setText(badge, hand ? t('members.raisedAt', { time: clock(Date.parse(hand.raised_at)) }) : '');
      setText(told, invitation
        ? wordOf('members.answers', invitation.state, invitation.state, { name: name.textContent }) : '');
      show(told, Boolean(invitation));
      for (const one of [accept, reject]) show(one, hand !== null);
      show(invite, hand === null && !isRinging);
      show(cancel, isRinging);
    };
    return row;
  }

  const stop = poll(3, load);
  return { element, close: stop };
}
