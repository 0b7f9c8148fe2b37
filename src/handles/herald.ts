/**
 * Notifies the model of changes to handles that the model has not read. Rules:
 * - A change that an answer reports causes no notification. While a call fetches or awaits a handle, the herald queues no
 *   notification about that handle. If the call is interrupted and gets no answer, the herald queues the notification.
 * - Each state causes at most one notification. If a handle seemed to wait and continued by itself, its next guessed waits cause
 *   no notification until a call reads the handle. A question that the tool itself asks is not a guessed wait.
 * - If an answer reports a change whose notification is open, the carrier of that answer closes the notification as known
 *   (`ToolOutcome.knows`). If the carrier did not close the notification, the herald withdraws the notification afterwards. An
 *   earlier withdrawal could lose the change, because the process may end before the answer is recorded.
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
  /** Queues a notice. Called only if there is an inbox. */
  readonly tell: (notice: Notice) => Promise<unknown>;
  readonly address: string;
  readonly ledger: Ledger;
  readonly owner: Owner;
  /** Adds a task. Tasks run in sequence. A failure of a task is reported and does not stop other tasks. */
  readonly enqueue: (task: () => Promise<void>) => void;
  readonly withdrawAtOnce: boolean;
};

export class Herald {
  readonly #deps: HeraldDeps;
  /** Handles whose end or wait still needs a notification. Handles stay in this set if the inbox fails. */
  #unsaid = new Set<Handle>();
  /** Handles whose end was reported in an answer. That answer may not be recorded yet. */
  #unsettled = new Set<Handle>();

  constructor(deps: HeraldDeps) {
    this.#deps = deps;
  }

  /** Records a handle for recovery after a crash. A one-shot call is recorded only if the call has a process. */
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
      ...(handle.shownIn === undefined || handle.shownVersion < handle.version ? {} : { toldIn: handle.shownIn }),
    });
  }

  /**
   * Queues a notification about a handle if the model needs the notification. Called when the handle has a new phase, when a
   * call no longer watches the handle, and to retry.
   */
  consider(handle: Handle): void {
    const { inbox } = this.#deps;
    if (!handle.background || handle.watchers > 0 || handle.phase.type === 'running') return;
    if (handle.shownVersion >= handle.version || handle.noticed >= handle.version) return;
    if (handle.phase.type === 'waiting' && handle.flaps && !handle.asked) return;
    const notice = noticeOf(handle);
    if (notice === undefined || inbox === undefined) return;
    const { version } = handle;
    handle.noticed = version;
    handle.queued = true;
    this.#unsaid.add(handle);
    this.#deps.enqueue(async () => {
      // While other notices were queued, the phase may have changed, or a call may have read the handle.
      if (handle.version !== version || handle.shownVersion >= version) return void this.#unsaid.delete(handle);
      try {
        await this.#deps.tell(notice);
      } catch (error) {
        handle.noticed = -1;
        throw error;
      }
      this.#unsaid.delete(handle);
      // The inbox now has the notification, so a stopped handle needs no ledger entry.
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

  /** Withdraws the notification about a wait, because the question is answered or the handle continued by itself. */
  resumed(handle: Handle): void {
    this.#unsaid.delete(handle);
    this.#withdraw(handle, 'it continued');
  }

  /** Records that the answer to this call reports this version. */
  shown(handle: Handle, version: number, callId: string): void {
    handle.shownVersion = Math.max(handle.shownVersion, version);
    handle.shownIn = callId;
    handle.contentNoticed = false;
    handle.flaps = false;
    if (handle.shownVersion < handle.version) return;
    this.#unsaid.delete(handle);
    // For an active handle, the notification is withdrawn at once. A crash that loses the answer also ends the handle, and the
    // recovery notifies the model about this end.
    if (handle.active) return this.#withdraw(handle, 'the agent read the handle');
    if (!handle.background) return;
    this.#unsettled.add(handle);
    this.remember(handle);
    if (this.#deps.withdrawAtOnce) this.#withdraw(handle, 'the agent read the handle');
  }

  /**
   * Removes the ledger entries and withdraws the notifications of stopped handles whose answers are recorded. `callIds` are the
   * calls whose answers are not recorded yet. Also retries failed notifications.
   */
  settle(callIds: ReadonlySet<string>): void {
    for (const handle of this.#unsettled) {
      if (handle.shownIn !== undefined && callIds.has(handle.shownIn)) continue;
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
