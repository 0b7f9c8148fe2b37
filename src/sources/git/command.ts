/** Runs the `git` of this machine without a shell and without prompts, and leaves no processes behind. */
import { spawn } from 'node:child_process';

/**
 * - `failed`: git ended with an error, or could not be started. `line` is git's first line that begins with `fatal:` or `error:`,
 *   otherwise git's last line. If git could not be started, `line` is the system's error message.
 * - `missing`: git or the folder does not exist.
 */
export type Answer =
  | { readonly kind: 'ok'; readonly out: string }
  | { readonly kind: 'failed'; readonly code: number | null; readonly line: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'stopped'; readonly why: 'aborted' | 'timeout' };

export type CommandOptions = { readonly withinMs?: number; readonly signal?: AbortSignal };

/** Runs one command in `root`. Never rejects. */
export type Git = (args: readonly string[], options?: CommandOptions) => Promise<Answer>;

/** The maximum size of the output that is read, which is enough for tens of thousands of conflicting files. */
const MOST_BYTES = 16 * 1_048_576;

export function gitIn(root: string, program = 'git'): Git {
  return (args, { withinMs = 10_000, signal } = {}) => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    if (signal?.aborted) return Promise.resolve({ kind: 'stopped', why: 'aborted' });
    // In a separate session of the operating system, git has no terminal for a password, and its children can be ended too.
    const child = spawn(program, [...CONFIG, ...args], {
      cwd: root,
      env: environment(),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stopped: 'aborted' | 'timeout' | undefined;
    const end = (why: 'aborted' | 'timeout'): void => {
      stopped ??= why;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The process has already ended.
      }
    };
    const abort = (): void => end('aborted');
    const timer = setTimeout(() => end('timeout'), withinMs);
    signal?.addEventListener('abort', abort, { once: true });
    const settle = (answer: Answer): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(answer);
    };
    const out: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MOST_BYTES) out.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk.toString('utf8')}`.slice(-4_096);
    });
    child.once('error', (error) =>
      settle(
        (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? { kind: 'missing' }
          : { kind: 'failed', code: null, line: error.message },
      ),
    );
    child.once('close', (code) => {
      if (stopped !== undefined) settle({ kind: 'stopped', why: stopped });
      else if (code === 0) settle({ kind: 'ok', out: Buffer.concat(out).toString('utf8') });
      else settle({ kind: 'failed', code, line: lastLine(errors) });
    });
    return promise;
  };
}

/**
 * Settings for every call. Without these settings, git could leave background processes, and signatures could appear in the log
 * output.
 */
const CONFIG = ['-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false', '-c', 'maintenance.auto=false', '-c', 'gc.auto=0'];

/** Variables that git hooks or tests set, and that would change the repository or the output of git. */
const LEADS_ELSEWHERE =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|CEILING_DIRECTORIES|GRAFT_FILE|SHALLOW_FILE|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|LITERAL_PATHSPECS|TRACE.*)$/;

function environment(): Record<string, string | undefined> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !LEADS_ELSEWHERE.test(name)));
  return {
    ...env,
    LC_ALL: 'C',
    // A read must not write to the repository, because the next check would find that write.
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_SSH_COMMAND: env['GIT_SSH_COMMAND'] ?? 'ssh -o BatchMode=yes',
  };
}

/** Returns the first line of git's errors that names the error, otherwise the last line, without names and passwords in URLs. */
function lastLine(errors: string): string {
  const lines = errors
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.find((each) => /^(fatal|error):/.test(each)) ?? lines.at(-1) ?? 'no reason given';
  return line.replaceAll(/(\w+:\/\/)[^@/\s]+@/g, '$1…@').slice(0, 300);
}
