/**
 * Runs a conversation in a terminal. Finished rows scroll away. Below them are the live rows: current text and calls, waiting
 * notifications, and the prompt.
 *
 *   prompt ── Enter ─▶ prompt                     the message is sent, or waits for its turn
 *   prompt ── Ctrl+C, a turn runs ─▶ menu ── s, Ctrl+C ─▶ prompt      the turn is stopped
 *                                        ├─ r ─▶ reply ── Enter ─▶ prompt     added to the turn
 *                                        │            └── Esc, Ctrl+C ─▶ prompt
 *                                        └─ c, Esc, the turn ends ─▶ prompt
 *   prompt ── the agent may be woken ─▶ question ── y ─▶ prompt        the agent is woken
 *                                            └── n, Enter ─▶ prompt    the agent stays idle; anything else is a message
 *   prompt, question ── Ctrl+C while the stopped turn still ends, Ctrl+C at an empty line while no turn runs, /quit ─▶ over
 *   prompt, question, reply ── Ctrl+D at an empty line ─▶ over
 */
import { emitKeypressEvents } from 'node:readline';
import type { AgentEvent } from '../../agent/index.ts';
import type { Item } from '../../core/items.ts';
import { levelRank, type NotificationId } from '../../core/notification.ts';
import { EXIT } from '../exit.ts';
import { cut } from '../table.ts';
import { complain, paint, plain } from '../terminal.ts';
import { Details } from './details.ts';
import { Driver } from './driver.ts';
import { Editor, type Key } from './editor.ts';
import type { Front } from './front.ts';
import { historyLines, typed } from './history.ts';
import { LiveRows } from './live-rows.ts';
import { LiveSurface } from './live-surface.ts';
import { Narrator } from './narrator.ts';
import { Screen } from './screen.ts';
import type { Session } from './session.ts';
import { onReaderGone, onSignals, SIGNAL_CODES } from './signals.ts';
import { isCommand, messageOf, slash } from './slash.ts';

/** Whether stdin and stdout are a terminal that can move its cursor. */
export const isTerminal = (): boolean => process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb';

type Mode =
  | { readonly kind: 'prompt' }
  | { readonly kind: 'menu' }
  | { readonly kind: 'reply' }
  | { readonly kind: 'question'; readonly ids: readonly NotificationId[] };

const PROMPT: Mode = { kind: 'prompt' };
const TICK_MS = 1_000;
const PROMPT_ROWS = 10;
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

export class TerminalFront implements Front {
  #chat: Chat | undefined;

  note(line: string): void {
    if (this.#chat) this.#chat.note(line);
    else complain(line);
  }

  told(message: string): void {
    this.#chat?.told(message);
  }

  handles(): void {
    this.#chat?.draw();
  }

  async run(session: Session, first: string): Promise<number> {
    this.#chat = new Chat(session);
    try {
      return await this.#chat.lead(first);
    } finally {
      this.#chat = undefined;
    }
  }
}

class Chat {
  readonly #session: Session;
  readonly #screen = new Screen(process.stdout, () => this.#living());
  readonly #surface = new LiveSurface(this.#screen, () => this.draw());
  readonly #details = new Details();
  readonly #narrator: Narrator;
  readonly #driver: Driver;
  readonly #editor: Editor;
  readonly #rows: LiveRows;
  readonly #over = Promise.withResolvers<number>();
  #mode: Mode = PROMPT;
  #pending: readonly Item[] = [];
  /** Whether a person has stopped the turn and the turn has not ended yet. */
  #stopping = false;
  /**
   * The person who paused the agent. Empty if the pause names no person; undefined if the agent is not paused, or still runs a
   * turn.
   */
  #pausedBy: string | undefined;
  /** When the turn began, by the monotonic clock. */
  #since = 0;
  #writes: 'nothing' | 'thoughts' | 'words' = 'nothing';
  /** Whether a draw is scheduled: changes within one iteration of the event loop are drawn together. */
  #drawing = false;
  /** The text that was typed before a reply began. */
  #draft = '';

  constructor(session: Session) {
    this.#session = session;
    this.#editor = new Editor(typed(session.agent.records));
    this.#narrator = new Narrator(this.#surface, this.#details, (ids) => session.delivered(ids));
    this.#driver = new Driver({
      session,
      show: (event) => this.#show(event),
      sent: (text) => this.#narrator.said(text),
      trouble: (message) => this.note(message),
    });
    this.#rows = new LiveRows({ session, surface: this.#surface, narrator: this.#narrator, driver: this.#driver });
  }

  /**
   * Runs the conversation until a person or the system ends it. `first` is sent to the agent at once, unless it is empty.
   */
  async lead(first: string): Promise<number> {
    const { stdin, stdout } = process;
    const onKey = (text: string | undefined, key: Key): void => {
      this.#key(text, key);
      this.draw();
    };
    const onResize = (): void => this.#screen.resized();
    const onEnd = (): void => this.#quit(EXIT.ok.code);
    const restore = (): void => {
      if (stdin.isTTY) stdin.setRawMode(false);
      stdout.write(PASTE_OFF);
    };
    using _signals = onSignals((signal) => {
      if (signal === 'SIGINT') onKey(undefined, { name: 'c', ctrl: true });
      else this.#quit(SIGNAL_CODES[signal]);
    });
    // If stdout has no reader any more, the terminal was closed.
    using _reader = onReaderGone(() => this.#quit(SIGNAL_CODES.SIGHUP));
    const ticking = setInterval(() => void this.#tick(), TICK_MS);
    process.once('exit', restore);

    this.#begin();
    if (first !== '') this.#driver.send(first);
    emitKeypressEvents(stdin);
    stdin.setRawMode(true);
    stdout.write(PASTE_ON);
    stdin.on('keypress', onKey).on('end', onEnd).resume();
    stdout.on('resize', onResize);
    await this.#refresh();
    this.#screen.start();

    const code = await this.#over.promise;
    clearInterval(ticking);
    stdin.off('keypress', onKey).off('end', onEnd).pause();
    stdout.off('resize', onResize);
    await this.#driver.end();
    this.#surface.endText();
    this.#screen.end();
    restore();
    process.off('exit', restore);
    if (!this.#session.choice.named && this.#session.agent.records.some(({ type }) => type === 'chat_request'))
      stdout.write(
        `\n${paint('dim', `earpiece chat --resume ${this.#session.choice.conversation} continues this conversation`)}\n`,
      );
    return code;
  }

  note(line: string): void {
    this.#narrator.note(line);
  }

  told(message: string): void {
    this.#narrator.told(message);
  }

  /** Schedules a draw of all live rows for the end of this iteration of the event loop. */
  draw(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    setImmediate(() => {
      this.#drawing = false;
      this.#screen.draw();
    });
  }

  #begin(): void {
    const { agent, choice, model } = this.#session;
    const { width } = this.#screen;
    this.#screen.print([
      cut(`${paint('bold', 'earpiece')} ${paint('dim', `${plain(agent.address)} · ${plain(model)}`)}`, width),
      cut(paint('dim', '/help lists commands · Ctrl+C interrupts · Ctrl+D ends'), width),
    ]);
    this.#narrator.apart();
    if (!choice.goesOn) return;
    const history = historyLines(agent.records, width);
    if (history.length > 0) this.#narrator.lines(history);
    if (choice.resumes) this.#driver.resume();
  }

  async #show(event: AgentEvent): Promise<void> {
    if (event.type === 'turn_started') {
      this.#since = performance.now();
      this.#stopping = false;
    } else if (event.type === 'request') this.#writes = 'nothing';
    else if (event.type === 'text') this.#writes = 'words';
    else if (event.type === 'reasoning') this.#writes = 'thoughts';
    else if (event.type === 'wake_asked' && this.#mode.kind === 'prompt') this.#mode = { kind: 'question', ids: event.ids };
    const idle = event.type === 'mode' && event.mode === 'idle';
    if (idle) {
      this.#stopping = false;
      if (this.#mode.kind === 'menu') this.#mode = PROMPT;
    }
    if (idle || event.type === 'waiting' || event.type === 'delivered') await this.#refresh();
    await this.#narrator.tell(event);
    this.draw();
  }

  async #tick(): Promise<void> {
    if (this.#pending.length > 0 || this.#pausedBy !== undefined) await this.#refresh();
    if (this.#driver.busy || this.#pending.length > 0 || this.#session.handles.length > 0 || this.#pausedBy !== undefined)
      this.draw();
  }

  /**
   * Reads the open notifications, the most urgent first, and the pause of the agent. Ends a question whose notifications are
   * closed.
   */
  async #refresh(): Promise<void> {
    const open = await this.#driver.open().catch(() => this.#pending);
    this.#pending = open.toSorted((a, b) => levelRank(b.notification.level) - levelRank(a.notification.level) || a.seq - b.seq);
    const gate = await this.#session.agent.conversation.gate().catch(() => []);
    const pause = gate.find(({ notification }) => notification.action === 'pause' && !this.#driver.busy);
    this.#pausedBy = pause && (pause.notification.origin?.person ?? '');
    if (this.#mode.kind !== 'question') return;
    const { ids } = this.#mode;
    if (!open.some(({ id }) => ids.includes(id))) this.#mode = PROMPT;
  }

  #quit(code: number): void {
    this.#over.resolve(code);
  }

  #key(text: string | undefined, key: Key): void {
    const { name, ctrl = false } = key;
    if (ctrl && name === 'c') return this.#interrupt();
    if (ctrl && name === 'z') return this.#suspend();
    if (ctrl && name === 'l') return this.#screen.clear();
    if (this.#mode.kind === 'menu') return this.#choose(name);
    if (ctrl && name === 'd' && this.#editor.text === '') return this.#quit(EXIT.ok.code);
    if (name === 'escape' && this.#mode.kind === 'reply') return this.#back();
    if (this.#editor.key(text, key) === 'submit') this.#submit();
  }

  /**
   * Handles Ctrl+C. During a turn, the first Ctrl+C opens the menu, the second stops the turn, and the third quits if the turn
   * has not ended yet. Without a turn, Ctrl+C empties the line, or quits if the line is empty. During a reply, Ctrl+C discards
   * the reply.
   */
  #interrupt(): void {
    const { busy } = this.#driver;
    if (this.#mode.kind === 'menu') return this.#stop();
    if (this.#mode.kind === 'reply') return this.#back();
    if (busy && this.#stopping) return this.#quit(SIGNAL_CODES.SIGINT);
    if (busy) this.#mode = { kind: 'menu' };
    else if (this.#editor.text !== '') this.#editor.text = '';
    else this.#quit(EXIT.ok.code);
  }

  #choose(name: string | undefined): void {
    if (name === 's') this.#stop();
    else if (name === 'r') {
      this.#draft = this.#editor.text;
      this.#editor.text = '';
      this.#mode = { kind: 'reply' };
    } else if (name === 'c' || name === 'escape') this.#mode = PROMPT;
  }

  #back(): void {
    this.#editor.text = this.#draft;
    this.#mode = PROMPT;
  }

  #stop(): void {
    this.#mode = PROMPT;
    this.#stopping = true;
    // The waiting messages return to the prompt, because the person may still want to send them.
    const waiting = this.#driver.takeBack();
    if (waiting.length > 0) this.#editor.text = [...waiting, this.#editor.text].filter((text) => text !== '').join('\n');
    this.#driver.stop();
  }

  async #wake(ids: readonly NotificationId[]): Promise<void> {
    try {
      // The notifications may have been withdrawn since the question.
      if (!(await this.#driver.wake(ids)) && !this.#driver.busy) this.#narrator.note('nothing waits');
    } catch (error) {
      this.#driver.trouble(error);
    }
  }

  #submit(): void {
    const text = this.#editor.take().trim();
    const mode = this.#mode;
    this.#mode = PROMPT;
    if (mode.kind === 'question') {
      if (/^y(es)?$/iu.test(text)) return void this.#wake(mode.ids);
      if (text === '' || /^no?$/iu.test(text)) return this.#narrator.note('The agent stays idle; /wake begins a turn.');
    }
    if (mode.kind === 'reply') {
      this.#editor.text = this.#draft;
      if (text !== '') this.#driver.reply(text);
      return;
    }
    if (text === '') return;
    if (!isCommand(text)) return this.#driver.send(messageOf(text));
    const { width } = this.#screen;
    void slash(text, { driver: this.#driver, details: this.#details, width, quit: () => this.#quit(EXIT.ok.code) })
      .then(async (lines) => {
        if (lines.length > 0) this.#narrator.lines(lines);
        await this.#refresh();
        this.draw();
      })
      .catch(this.#driver.trouble);
  }

  /** Gives the terminal back to the shell until the user types `fg`. */
  #suspend(): void {
    this.#screen.end();
    process.stdin.setRawMode(false);
    process.stdout.write(PASTE_OFF);
    process.once('SIGCONT', () => {
      process.stdin.setRawMode(true);
      process.stdout.write(PASTE_ON);
      this.#screen.start();
    });
    process.kill(process.pid, 'SIGTSTP');
  }

  #living(): { rows: string[]; cursor: { row: number; column: number } } {
    const { width } = this.#screen;
    const rows = this.#rows.at(
      {
        pending: this.#pending,
        stopping: this.#stopping,
        pausedBy: this.#pausedBy,
        since: this.#since,
        writes: this.#writes,
      },
      width,
    );
    if (this.#mode.kind === 'menu') {
      const menu = cut(
        `${paint('inverse', ' s ')} stop   ${paint('inverse', ' r ')} reply   ${paint('inverse', ' c ')} continue   ${paint('dim', 'Ctrl+C again: stop')}`,
        width,
      );
      return { rows: [...rows, menu], cursor: { row: rows.length, column: 0 } };
    }
    const { rows: typed, cursor } = this.#editor.view(this.#label, width, PROMPT_ROWS);
    return { rows: [...rows, ...typed], cursor: { row: rows.length + cursor.row, column: cursor.column } };
  }

  get #label(): string {
    switch (this.#mode.kind) {
      case 'reply':
        return `${paint(['cyan', 'bold'], 'reply ›')} `;
      case 'question':
        return `${paint(['yellow', 'bold'], 'wake the agent? [y/N] ›')} `;
      case 'prompt':
      case 'menu':
        return `${paint(['cyan', 'bold'], '›')} `;
      default:
        return this.#mode satisfies never;
    }
  }
}
