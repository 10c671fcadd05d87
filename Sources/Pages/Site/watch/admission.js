// What admits a viewer to a private room: the ticket in the page's address, or the passphrase that it is asked for.

import { t, wordOf } from '../texts/watch-texts.js';
import { HTTPFailure } from './transport.js';

/** The gateway's numbers of refusals: of a passphrase, and of a ticket that is in use on other devices. */
const passphraseCodes = [53410, 53411];
const inUseCode = 53417;

export class Admission {
  constructor(room, ticket) {
    this.room = room;
    this.ticket = ticket;
    this.place = `footlight.session.${room}`;
  }

  /** The session id of this tab, so that a reload is no further device; null without one. */
  get sid() {
    try {
      return sessionStorage.getItem(this.place);
    } catch {
      return null;
    }
  }

  set sid(sid) {
    try {
      if (sid) sessionStorage.setItem(this.place, sid);
      else sessionStorage.removeItem(this.place);
    } catch {
      // A browser that keeps nothing: a reload is then a further device.
    }
  }

  /**
   * Asks the gateway for admission, and returns the session id; throws `HTTPFailure` with the reason.
   *
   * One request at a time, because each that admits is a device.
   */
  async enter(credentials) {
    await this.pending?.catch(() => undefined);
    this.pending = this.ask(credentials).finally(() => { this.pending = null; });
    return this.pending;
  }

  async ask({ passphrase, takeOver } = {}) {
    const body = { take_over: takeOver ?? false };
    if (passphrase) body.passphrase = passphrase;
    else if (this.ticket) body.ticket = this.ticket;
    if (this.sid) body.sid = this.sid;
    const answer = await fetch(`/v1/rooms/${encodeURIComponent(this.room)}/admission`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    if (!answer.ok) throw await HTTPFailure.of(answer);
    const { sid } = await answer.json();
    this.sid = sid;
    return sid;
  }
}

/** Whether a failure is a refusal to admit, and not of the network or the program. */
export function isRefusal({ code }) {
  return code >= 53410 && code <= 53418;
}

/** Shows why a viewer is not admitted, and asks for what would admit it. */
export class AdmissionForm {
  /** @param onAdmitted Called with the session id. */
  constructor(form, admission, onAdmitted) {
    Object.assign(this, { form, admission, onAdmitted });
    this.input = form.querySelector('input');
    this.button = form.querySelector('button');
    this.reason = form.querySelector('p');
    // The keys of the player are letters here.
    form.addEventListener('keydown', (event) => event.stopPropagation());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
  }

  show(failure) {
    this.failure = failure;
    const needsPassphrase = passphraseCodes.includes(failure.code) || failure.status === 429;
    const isInUse = failure.code === inUseCode;
    const said = [failure.reason, failure.advice].filter(Boolean).map((sentence) => `${sentence}.`).join(' ');
    this.reason.textContent = failure.status === 429 ? t('admission.tooOften')
      : wordOf('admission.reasons', failure.code, said || t('admission.refused'));
    this.input.hidden = !needsPassphrase;
    this.input.required = needsPassphrase;
    this.button.hidden = !needsPassphrase && !isInUse;
    this.button.textContent = t(isInUse ? 'admission.enterInstead' : 'admission.enter');
    if (this.form.hidden) {
      this.form.hidden = false;
      if (needsPassphrase) this.input.focus();
    }
  }

  hide() {
    this.form.hidden = true;
    this.input.value = '';
  }

  async submit() {
    this.button.disabled = true;
    try {
      const takeOver = this.failure?.code === inUseCode;
      this.onAdmitted(await this.admission.enter(takeOver ? { takeOver } : { passphrase: this.input.value }));
    } catch (error) {
      if (error instanceof HTTPFailure) this.show(error);
      else this.reason.textContent = t('admission.unreachable');
    } finally {
      this.button.disabled = false;
    }
  }
}
