import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { formatProblem, readConfig } from '../../config/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import { identify } from '../../inbox/index.ts';
import { withEarpiece, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { ago, paint, plain, print, printJson, table } from '../terminal.ts';
import { VERSION } from '../version.ts';

type Finding = { readonly what: string; readonly value: string; readonly ok: boolean; readonly todo?: string };

export function doctor(program: Command, answer: (code: number) => void): void {
  program
    .command('doctor')
    .description('versions, database, configuration, who this process would be, who carries and when they last did')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const findings = await examine(options);
      if (options.json) for (const finding of findings) printJson(finding);
      else {
        print(table(findings.map((f) => [f.ok ? paint('green', '✓') : paint('red', '✗'), f.what, plain(f.value)])));
        for (const f of findings) if (f.todo !== undefined) print(`${paint(f.ok ? 'dim' : 'yellow', '→')} ${f.todo}`);
      }
      if (findings.some((f) => !f.ok)) answer(EXIT.problems.code);
    });
}

async function examine(options: GlobalOptions): Promise<Finding[]> {
  const findings: Finding[] = [
    { what: 'earpiece', value: VERSION, ok: true },
    { what: 'node', value: `${process.version} (${process.execPath})`, ok: true },
  ];
  const flags = options.db === undefined ? {} : { flags: { db: options.db } };
  const { config, problems } = readConfig({ cwd: process.cwd(), env: process.env, ...flags });
  findings.push(
    ...(problems.length === 0
      ? [{ what: 'config', value: config.files.map((f) => f.file).join(', ') || 'defaults only', ok: true }]
      : problems.map((p) => ({ what: 'config', value: formatProblem(p), ok: false, todo: 'earpiece config check' }))),
    ...config.untrusted.map(({ file, what }) => ({
      what: 'trust',
      value: `${file}: ${what.join(', ')} left out`,
      ok: true,
      todo: 'earpiece trust allows it',
    })),
    { what: 'project', value: `${config.project} (${config.projectRoot})`, ok: true },
  );
  if (problems.length > 0) return findings;
  try {
    await withEarpiece(options, async (ear) => {
      findings.push({ what: 'store', value: `${ear.store.name}${sizeOf(config.db)}`, ok: true });
      const broken = await ear.store.verify();
      findings.push(
        ...broken.map((value) => ({
          what: 'store',
          value,
          ok: false,
          todo: 'restore a backup, or move the file away: what is open in it would be lost',
        })),
      );
      const me = await identify({ project: config.project, env: process.env, given: config.address }, ear.store);
      findings.push({
        what: 'identity',
        value: `${me.log}#${me.conversation}, by ${me.by}${me.host ? ` ${me.host.agent} (pid ${me.host.process.pid})` : ''}`,
        ok: true,
      });
      const now = ear.store.now();
      const there = (await ear.store.presence({ project: config.project })).filter((p) => ear.isActive(p, now));
      findings.push(
        ...there.map((p) => ({
          what: 'agent',
          value: `${p.log}#${p.conversation}: ${Object.keys(p.carriers).join(', ') || 'no carrier'}; last contact ${ago(p.seenAt, now)}, last carried ${p.carriedAt === undefined ? 'never' : ago(p.carriedAt, now)}`,
          ok: true,
        })),
      );
      if (there.length === 0)
        findings.push({
          what: 'agent',
          value: 'none active in this project',
          ok: true,
          todo: 'earpiece gateway --print claude -- <command of an MCP server>   (or codex, gemini, opencode …)',
        });
    });
  } catch (error) {
    if (!(error instanceof EarpieceError)) throw error;
    findings.push({ what: 'store', value: error.message, ok: false });
  }
  return findings;
}

function sizeOf(path: string): string {
  try {
    return `, ${(statSync(path).size / 1_048_576).toFixed(1)} MB`;
  } catch {
    return '';
  }
}
