/** Runs the steps that `install` and `uninstall` share: show the changes, ask once, change, and report. */
import { defined } from '../../core/defined.ts';
import {
  changes,
  installBook,
  isPending,
  type FilePlan,
  type InstallBook,
  type Place,
  type Setup,
} from '../../hosts/setup/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import { paint, plain, print, printJson } from '../terminal.ts';
import type { GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { agreed, isTerminal } from './ask.ts';
import { diffOf, headline, shown } from './show.ts';

export type SetupOptions = GlobalOptions & { readonly yes?: boolean; readonly all?: boolean };

export type HostPlan = { readonly setup: Setup; readonly files: readonly FilePlan[] };

type Way = {
  readonly question: string;
  readonly write: (plan: FilePlan, book: InstallBook) => Promise<void>;
};

export type Outcome = {
  /** Hosts whose files now have the planned content. */
  readonly done: readonly Setup[];
  /** Hosts that could not be changed. */
  readonly failed: readonly Setup[];
  /** Why nothing was changed: the user refused, or there was no terminal for the question. */
  readonly asked?: 'refused' | 'nobody';
};

export async function carryOut(hosts: readonly HostPlan[], place: Place, options: SetupOptions, way: Way): Promise<Outcome> {
  const json = options.json === true;
  const failing = hosts.filter(({ files }) => files.some(({ problem }) => problem !== undefined));
  const going = hosts.filter((host) => !failing.includes(host));
  const pending = going.filter(({ files }) => files.some(isPending));
  if (!json)
    for (const { setup, files } of hosts)
      print(`${paint('bold', setup.title)}\n${files.map((file) => shown(file, place)).join('\n')}\n${stays(setup, files)}`);
  const outcome = { done: going.map(({ setup }) => setup), failed: failing.map(({ setup }) => setup) };
  const written = new Set<FilePlan>();
  const errors = new Map<FilePlan, string>();
  const tell = (): void => {
    if (!json) return;
    for (const { files } of hosts)
      for (const file of files)
        printJson(lineOf(file, { written: written.has(file), problem: file.problem ?? errors.get(file) }));
  };
  if (pending.length === 0) {
    tell();
    return outcome;
  }
  if (options.yes !== true) {
    // The whole changes of several agents fill many screens, so a summary comes before the question.
    const changed = pending.flatMap(({ files }) => files.filter(changes));
    if (!json && changed.length > 1)
      print(`Summary of the ${changed.length} files:\n${changed.map((file) => headline(file, place)).join('\n')}\n`);
    if (json || !isTerminal()) {
      tell();
      return { done: [], failed: outcome.failed, asked: 'nobody' };
    }
    if (!(await agreed(way.question))) return { done: [], failed: outcome.failed, asked: 'refused' };
  }
  const book = installBook({ env: process.env });
  const broken = new Set<Setup>();
  for (const { setup, files } of pending)
    for (const file of files) {
      if (broken.has(setup)) continue;
      try {
        await way.write(file, book);
        if (changes(file)) written.add(file);
      } catch (error) {
        if (!(error instanceof EarpieceError)) throw error;
        broken.add(setup);
        errors.set(file, error.message);
        if (!json) print(`${paint('red', '✗')} ${setup.title}: ${plain(error.message)}`);
      }
    }
  tell();
  return {
    done: outcome.done.filter((setup) => !broken.has(setup)),
    failed: [...outcome.failed, ...broken],
  };
}

/** Says that no file of the agent is changed, if one of its files has a problem and another would change. */
const stays = ({ title }: Setup, files: readonly FilePlan[]): string =>
  files.some(({ problem }) => problem !== undefined) && files.some(isPending)
    ? `  because of the problem after ✗, Earpiece changes no file of ${title}\n`
    : '';

const lineOf = (
  plan: FilePlan,
  { written, problem }: { readonly written: boolean; readonly problem: string | undefined },
): Record<string, unknown> => {
  const { host, file, scope, before, after, unrestored } = plan;
  const change = !changes(plan) ? 'none' : before === undefined ? 'make' : after === undefined ? 'remove' : 'change';
  return {
    agent: host,
    file,
    scope,
    change,
    written,
    ...defined({ problem, unrestored }),
    ...(change === 'none' ? {} : { diff: diffOf(plan) }),
  };
};

/** Returns the exit code: an error if there was no terminal for the question, or if some hosts could not be changed. */
export const codeOf = ({ failed, asked }: Outcome): number =>
  asked === 'nobody' ? EXIT.usage.code : failed.length > 0 ? EXIT.problems.code : EXIT.ok.code;
