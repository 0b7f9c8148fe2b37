/** Runs a language server as a child process, with its open documents and the errors that it finds in them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter, type MessageConnection } from 'vscode-jsonrpc/node';
import type {
  ConfigurationParams,
  Diagnostic,
  DocumentDiagnosticReport,
  InitializeParams,
  InitializeResult,
  PublishDiagnosticsParams,
} from 'vscode-languageserver-protocol';
import { CannotLook } from '../follower.ts';

/** The maximum time for a server to start. A large project takes long to load. */
const STARTS_WITHIN_MS = 60_000;
const ANSWERS_WITHIN_MS = 30_000;
const ENDS_WITHIN_MS = 1_000;
/**
 * The time without publications after which a server's errors count as complete. A server first publishes syntax errors, and then
 * type errors.
 */
const QUIET_MS = 500;

type Document = { readonly version: number; readonly text: string; readonly openedAt: number };

export class LanguageServer {
  readonly #child: ChildProcess;
  readonly #connection: MessageConnection;
  readonly #documents = new Map<string, Document>();
  /** The errors by document. A document without an entry waits for the server's first report. */
  readonly #found = new Map<string, readonly Diagnostic[]>();
  #publishedAt = 0;
  /** Whether Earpiece asks the server for errors. If not, the server publishes its errors. */
  #isAsked = false;
  #said = '';
  #ended: string | undefined;

  private constructor(child: ChildProcess, connection: MessageConnection) {
    this.#child = child;
    this.#connection = connection;
  }

  /** Starts a server. Throws `CannotLook` if the server does not start, or if `signal` aborts. */
  static async start([program = '', ...args]: readonly string[], folder: string, signal: AbortSignal): Promise<LanguageServer> {
    // The server and its children form one process group, so that all these processes can be ended.
    const child = spawn(program, args, { cwd: folder, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const missing = new Promise<never>((_, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          new CannotLook(
            error.code === 'ENOENT' ? `${program}: the command does not exist` : `${program} cannot be started: ${error.message}`,
            { lasting: true },
          ),
        ),
      );
    });
    missing.catch(() => {});
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    const reader = new StreamMessageReader(child.stdout);
    // The timer for incomplete messages would run forever, and keep this process alive.
    reader.partialMessageTimeout = 0;
    const connection = createMessageConnection(reader, new StreamMessageWriter(child.stdin));
    const server = new LanguageServer(child, connection);
    try {
      await Promise.race([server.#initialize(folder), missing, server.#exit(program), tooLong(program, signal)]);
      return server;
    } catch (error) {
      await server.end();
      throw error;
    }
  }

  /** The reason why the server has ended; undefined while it runs. */
  get ended(): string | undefined {
    return this.#ended;
  }

  has(path: string): boolean {
    return this.#documents.has(path);
  }

  /** Opens the document, or changes its text. */
  write(path: string, text: string, language: string): void {
    const known = this.#documents.get(path);
    if (known?.text === text) return;
    const version = (known?.version ?? 0) + 1;
    this.#documents.set(path, { version, text, openedAt: known?.openedAt ?? performance.now() });
    const uri = uriOf(path);
    if (known === undefined) this.#notify('textDocument/didOpen', { textDocument: { uri, languageId: language, version, text } });
    else this.#notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
  }

  /**
   * Notifies the server that the document has changed on disk, so that the server checks the files that import this document.
   * `type` is 1 for created, 2 for changed, 3 for deleted.
   */
  saved(path: string, type: 1 | 2 | 3): void {
    if (type !== 3 && this.has(path)) this.#notify('textDocument/didSave', { textDocument: { uri: uriOf(path) } });
    this.#notify('workspace/didChangeWatchedFiles', { changes: [{ uri: uriOf(path), type }] });
  }

  close(path: string): void {
    if (!this.#documents.delete(path)) return;
    this.#found.delete(path);
    this.#notify('textDocument/didClose', { textDocument: { uri: uriOf(path) } });
  }

  /** Returns the errors in the open documents. Resolves to undefined while the errors may still change. */
  async errors(): Promise<ReadonlyMap<string, readonly Diagnostic[]> | undefined> {
    if (this.#isAsked) {
      for (const path of this.#documents.keys()) {
        const asked = this.#connection.sendRequest('textDocument/diagnostic', { textDocument: { uri: uriOf(path) } });
        const report = (await Promise.race([asked, pause(ANSWERS_WITHIN_MS, undefined, { ref: false })])) as
          | DocumentDiagnosticReport
          | undefined;
        if (report?.kind === 'full') this.#found.set(path, report.items);
      }
    } else if (performance.now() - this.#publishedAt < QUIET_MS) return undefined;
    // Some servers publish nothing for a document outside of their project. After 30 s, such a document counts as free of errors.
    for (const [path, { openedAt }] of this.#documents)
      if (!this.#found.has(path) && performance.now() - openedAt > ANSWERS_WITHIN_MS) this.#found.set(path, []);
    const errors = (all: readonly Diagnostic[]): readonly Diagnostic[] => all.filter(({ severity = 1 }) => severity === 1);
    return new Map([...this.#found].filter(([path]) => this.has(path)).map(([path, all]) => [path, errors(all)]));
  }

  /**
   * Resolves to the errors when the server has read each of these documents. Resolves to undefined after 30 s, or if the server
   * ends or `signal` aborts.
   */
  async errorsOf(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly Diagnostic[]> | undefined> {
    const until = performance.now() + ANSWERS_WITHIN_MS;
    while (performance.now() < until && this.#ended === undefined && !signal.aborted) {
      const errors = await this.errors();
      if (errors !== undefined && paths.every((path) => errors.has(path))) return errors;
      await pause(QUIET_MS / 5);
    }
    return undefined;
  }

  async end(): Promise<void> {
    if (this.#ended === undefined) {
      const polite = this.#connection.sendRequest('shutdown').then(() => this.#connection.sendNotification('exit'));
      await Promise.race([polite.catch(() => {}), pause(ENDS_WITHIN_MS, undefined, { ref: false })]);
    }
    this.#ended ??= 'it was ended';
    this.#connection.dispose();
    const { pid, exitCode, signalCode, stdin, stdout, stderr } = this.#child;
    if (pid === undefined) return;
    const gone = exitCode === null && signalCode === null ? once(this.#child, 'exit').catch(() => {}) : undefined;
    kill(pid, 'SIGTERM');
    await Promise.race([gone, pause(ENDS_WITHIN_MS, undefined, { ref: false })]);
    // A server may ignore the first signal. Its children may keep its streams open, and so keep this process alive.
    kill(pid, 'SIGKILL');
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
  }

  async #initialize(folder: string): Promise<void> {
    const connection = this.#connection;
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#said = `${this.#said}${chunk.toString('utf8')}`.slice(-2_000)));
    connection.onError(() => {});
    connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }: PublishDiagnosticsParams) => {
      this.#publishedAt = performance.now();
      const path = [...this.#documents.keys()].find((each) => isSame(uriOf(each), uri));
      if (path !== undefined && !this.#isAsked) this.#found.set(path, diagnostics);
    });
    connection.onRequest('workspace/configuration', ({ items }: ConfigurationParams) => items.map(() => null));
    for (const method of ['client/registerCapability', 'client/unregisterCapability', 'window/workDoneProgress/create'])
      connection.onRequest(method, () => null);
    connection.listen();
    const rootUri = uriOf(folder);
    const params: InitializeParams = {
      processId: process.pid,
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: 'project' }],
      capabilities: {
        textDocument: { synchronization: { didSave: true }, publishDiagnostics: {}, diagnostic: {} },
        workspace: { configuration: true, workspaceFolders: true, didChangeWatchedFiles: {} },
      },
    };
    const { capabilities } = await connection.sendRequest<InitializeResult>('initialize', params);
    this.#isAsked = capabilities.diagnosticProvider !== undefined;
    await connection.sendNotification('initialized', {});
  }

  /** Rejects when the server ends. */
  #exit(program: string): Promise<never> {
    const ended = new Promise<never>((_, reject) => {
      this.#child.once('close', (code, signal) => {
        const last = this.#said.trim().split('\n').at(-1) ?? '';
        this.#ended ??= `${program} ended (${signal ?? `code ${code}`})${last === '' ? '' : `: ${last.slice(0, 200)}`}`;
        this.#connection.dispose();
        reject(new CannotLook(this.#ended));
      });
    });
    ended.catch(() => {});
    return ended;
  }

  #notify(method: string, params: object): void {
    if (this.#ended === undefined) this.#connection.sendNotification(method, params).catch(() => {});
  }
}

/** Sends a signal to the process group of a server. */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // All processes of the group have ended.
  }
}

async function tooLong(program: string, signal: AbortSignal): Promise<never> {
  await pause(STARTS_WITHIN_MS, undefined, { signal, ref: false }).catch(() => {
    throw new CannotLook('this process ends');
  });
  throw new CannotLook(
    `${program} did not answer within ${STARTS_WITHIN_MS / 1_000} s; check that the command is a language server on stdio`,
  );
}

const uriOf = (path: string): string => pathToFileURL(path).href;

/** Whether two URIs are the same after decoding, because servers escape characters differently. */
const isSame = (a: string, b: string): boolean => a === b || decodeURIComponent(a) === decodeURIComponent(b);
