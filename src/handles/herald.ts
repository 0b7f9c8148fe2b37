/**
 * Notifies a model of changes to handles that it has not read. Rules:
 * - It never notifies of a change that an answer reports. While a call fetches or awaits a handle, a change of that handle is
 * held back. If the call is interrupted and has no answer, the change is notified.
 * - It notifies once for each state. If a handle seemed to wait and continued by itself, its next waits are not notified until a
 * call reads the handle.
 * - If an answer reports a change whose notification is open, the carrier of that answer closes the notification as known
 * (`ToolOutcome.knows`). If the carrier did not close the notification, the herald withdraws it afterwards. Withdrawing it
 * earlier could lose the change, because an answer may be lost with its process.
 */
import { defined } from '../core/defined.ts';
import type { NotificationInput } from '../core/notification.ts';
import type { Owner } from '../core/records.ts';
import type { Handle } from './handle.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { contentNotice, keyOf, noticeOf, type Notice } from './notices.ts';

/** The part of an `Inbox` that the herald uses. */
export type NoticeInbox = {
  queue(to: string, input: NotificationInput): Promise<unknown>;
  withdraw(to: string, what: { key: string }, why: { by: string; reason: string }): Promise<unknown>;
};

export type HeraldDeps = {
  readonly inbox: NoticeInbox | undefined;
  /** Sends a notice. Called only if there is an inbox. */
  readonly tell: (notice: Notice) => Promise<unknown>;
  readonly address: string;
  readonly ledger: Ledger;
  readonly owner: Owner;
  /** Adds a task. Tasks run one after the other. A failure is reported and does not stop the others. */
  readonly enqueue: (task: () => Promise<void>) => void;
  readonly withdrawAtOnce: boolean;
};

export class Herald {
  readonly #deps: HeraldDeps;
  /** Handles that stopped or wait, and are not notified yet because the inbox failed. */
  #unsaid = new Set<Handle>();
  /** Handles that an answer reports which may not be recorded yet. */
  #unsettled = new Set<Handle>();

  constructor(deps: HeraldDeps) {
    this.#deps = deps;
  }

  /** Records handles for recovery after a crash. One-shot calls are recorded for their processes only. */
  remember(handle: Handle, process?: LedgerEntry['process']): void {
    const { ledger, owner } = this.#deps;
    const before = ledger.get(handle.uid);
    if (!handle.background && process === undefined && before?.process === undefined) return;
    // Without an inbox there are no notifications, so an ended handle needs no record.
    if (!handle.active && this.#deps.inbox === undefined) return ledger.remove(handle.uid);
    const owned = process ?? before?.process;
    const notice = handle.active || !handle.background ? undefined : noticeOf(handle);
    ledger.put({
      uid: handle.uid,
      id: handle.id,
      about: handle.about,
      tool: handle.tool.name,
      background: handle.background,
      startedAt: handle.startedAt,
      owner,
      ...defined({ process: owned, notice }),
      ...(handle.toldIn === undefined || handle.told < handle.version ? {} : { toldIn: handle.toldIn }),
    });
  }

  /** Checks whether to notify of a handle: it has a new phase, or the last call that watched it has ended. */
  consider(handle: Handle): void {
    const { inbox } = this.#deps;
    if (!handle.background || handle.watchers > 0 || handle.phase.type === 'running') return;
    if (handle.told >= handle.version || handle.noticed >= handle.version) return;
    if (handle.phase.type === 'waiting' && handle.flaps) return;
    const notice = noticeOf(handle);
    if (notice === undefined || inbox === undefined) return;
    const { version } = handle;
    handle.noticed = version;
    handle.queued = true;
    this.#unsaid.add(handle);
    this.#deps.enqueue(async () => {
      // While other notices were queued, the phase may have changed, or a call may have read the handle.
      if (handle.version !== version || handle.told >= version) return void this.#unsaid.delete(handle);
      try {
        await this.#deps.tell(notice);
      } catch (error) {
        handle.noticed = -1;
        throw error;
      }
      this.#unsaid.delete(handle);
      // The inbox has the notification now.
      if (!handle.active) this.#deps.ledger.remove(handle.uid);
    });
  }

  produced(handle: Handle, lastLine: () => string | undefined): void {
    const { inbox } = this.#deps;
    if (handle.tool.notifyContent !== true || inbox === undefined) return;
    if (!handle.background || handle.watchers > 0 || handle.contentNoticed || handle.phase.type !== 'running') return;
    handle.contentNoticed = true;
    handle.queued = true;
    const notice = contentNotice(handle, ++handle.contentNotices, lastLine());
    this.#deps.enqueue(async () => {
      if (handle.active) await this.#deps.tell(notice);
    });
  }

  /** Withdraws the notification about a wait: the question is answered, or the handle continued by itself. */
  resumed(handle: Handle): void {
    this.#unsaid.delete(handle);
    this.#withdraw(handle, 'it continued');
  }

  /** Records that the answer to this call reports this version. */
  told(handle: Handle, version: number, callId: string): void {
    handle.told = Math.max(handle.told, version);
    handle.toldIn = callId;
    handle.contentNoticed = false;
    handle.flaps = false;
    if (handle.told < handle.version) return;
    this.#unsaid.delete(handle);
    // For an active handle the answer is enough: a crash that loses the answer loses the handle too, and that is notified.
    if (handle.active) return this.#withdraw(handle, 'the agent read the handle');
    if (!handle.background) return;
    this.#unsettled.add(handle);
    this.remember(handle);
    if (this.#deps.withdrawAtOnce) this.#withdraw(handle, 'the agent read the handle');
  }

  /**
   * Called when the answers of all calls except these are recorded. The handles in them then need neither a ledger entry nor a
   * notification. Also retries failed notifications.
   */
  settle(callIds: ReadonlySet<string>): void {
    for (const handle of this.#unsettled) {
      if (handle.toldIn !== undefined && callIds.has(handle.toldIn)) continue;
      this.#unsettled.delete(handle);
      this.#withdraw(handle, 'the agent read the handle');
      this.#deps.ledger.remove(handle.uid);
    }
    for (const handle of this.#unsaid) this.consider(handle);
  }

  #withdraw(handle: Handle, reason: string): void {
    const { inbox, address } = this.#deps;
    if (inbox === undefined || !handle.queued) return;
    handle.queued = false;
    this.#deps.enqueue(async () => {
      await inbox.withdraw(address, { key: keyOf(handle.uid) }, { by: 'handles', reason });
    });
  }
}
