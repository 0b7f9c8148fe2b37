/**
 * Runs the terminal sessions of a page: each block after `<!-- tested by e2e/docs/guides.test.ts -->`, from top to bottom. All
 * blocks run in one project `shop` with an open session `s1` of Claude Code. Lines that begin with `$ ` are commands, and the
 * other lines are their output.
 *
 * The first line of a block names its kind.
 *
 * - `text`: commands and their output.
 * - `text agent`: the text that the model reads with its next tool result.
 * - `text refused`: the text that the model reads instead of the result of its next tool.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Shell } from '../cli/shell.ts';
import { CLI } from '../built.ts';

const BLOCK =
  /^(?<head>(?<indent> *)<!-- tested by e2e\/docs\/guides\.test\.ts -->\n *```text(?: (?<kind>agent|refused))?\n)(?<text>[^]*?)^ *```$/gmu;

type HookAnswer = {
  readonly hookSpecificOutput?: { readonly additionalContext?: string; readonly permissionDecisionReason?: string };
};

/** Returns the page with the present output of each session. Blocks that differ only in blanks do not change. */
export async function played(page: string): Promise<string> {
  await using terminal = await Terminal.open();
  const parts: string[] = [];
  let end = 0;
  for (const match of page.matchAll(BLOCK)) {
    const { kind, head = '', indent = '' } = match.groups ?? {};
    const text = (match.groups?.['text'] ?? '').replaceAll(new RegExp(`^${indent}`, 'gmu'), '');
    const today = kind === undefined ? await terminal.session(text) : await terminal.reads(kind === 'agent');
    const shown = (sameWords(today, text) ? text : today).replaceAll(/^(?=.)/gmu, indent);
    parts.push(page.slice(end, match.index), head, shown, `${indent}\`\`\``);
    end = match.index + match[0].length;
  }
  return parts.join('') + page.slice(end);
}

export class Terminal extends Shell {
  readonly #ids = new Set<string>();

  static async open(): Promise<Terminal> {
    const terminal = new Terminal();
    const bin = join(terminal.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'earpiece'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
    chmodSync(join(bin, 'earpiece'), 0o755);
    await terminal.#hook({ hook_event_name: 'SessionStart', source: 'startup' });
    return terminal;
  }

  /** Returns the commands of a block with their current output, with both streams as a terminal shows them. */
  async session(block: string): Promise<string> {
    const commands = block.split('\n').filter((line) => line.startsWith('$ '));
    const said: string[] = [];
    for (const command of commands) said.push(`${command}\n${this.#plain(await this.#type(command.slice(2)))}`);
    return said.join('');
  }

  /** Returns the text that the model reads with the results of its next batch of tools, or instead of its next call. */
  async reads(result: boolean): Promise<string> {
    const { hookSpecificOutput } = await this.#hook(
      result
        ? { hook_event_name: 'PostToolBatch' }
        : { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'make deploy' } },
    );
    return this.#plain(`${hookSpecificOutput?.additionalContext ?? hookSpecificOutput?.permissionDecisionReason ?? 'nothing'}\n`);
  }

  async #hook(event: Record<string, unknown>): Promise<HookAnswer> {
    const input = JSON.stringify({
      session_id: 's1',
      cwd: this.folder,
      transcript_path: join(this.folder, 's1.jsonl'),
      ...event,
    });
    const said = await this.says(['hook', 'claude'], { input });
    return said === '' ? {} : (JSON.parse(said) as HookAnswer);
  }

  async #type(command: string): Promise<string> {
    const env = this.env({ PATH: `${join(this.folder, 'bin')}:${process.env['PATH'] ?? ''}`, TZ: 'UTC', USER: 'anna' });
    return new Promise((resolve) => {
      execFile('sh', ['-c', `{ ${command}\n} 2>&1`], { cwd: this.folder, env }, (_error, stdout) => resolve(stdout));
    });
  }

  /** Shows different ids for different notifications, and the same ids in each run. */
  #shownId(id: string): string {
    this.#ids.add(id);
    return `n_01m8055j3z0d6pek19x${([...this.#ids].indexOf(id) + 3).toString(36)}`;
  }

  /** Replaces values that differ between runs: times, dates, durations, the mark, folders, ids and tokens. */
  #plain(text: string): string {
    return text
      .replaceAll(this.folder, '/home/anna/shop')
      .replaceAll(/\[(\/?)ep \w{4}\]/gu, '[$1ep k7f3]')
      .replaceAll(/\b\d+ m?s ago\b/gu, '1 s ago')
      .replaceAll(/\bafter [\d.]+ m?s\b/gu, 'after 1.2 s')
      .replaceAll(/\b\d\d:\d\d:\d\d\b/gu, '10:15:00')
      .replaceAll(/\bn_[0-9a-z]{20}\b/gu, (id) => this.#shownId(id))
      .replaceAll(/\bprocesses\/[0-9a-f-]{36}/gu, 'processes/7d1f')
      .replaceAll(/\bep_[0-9a-z]{12}_[0-9a-z]+/gu, 'ep_0a2opyxoetfr_zwgh9srrqoi3…')
      .replaceAll(/^[0-9a-z]{12}(?=,| {2})/gmu, '0a2opyxoetfr')
      .replaceAll(/\b\d{4}-\d\d-\d\d\b/gu, '2026-12-31');
  }
}

/** Whether two outputs differ only in blanks, because the positions of columns depend on the lengths of times and ids. */
const sameWords = (a: string, b: string): boolean => flat(a) === flat(b);
const flat = (text: string): string => text.replaceAll(/ +/gu, ' ').replaceAll(/ $/gmu, '').trimEnd();
