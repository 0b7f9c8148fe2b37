/** Lists faults in the settings of an agent, and tests that `earpiece doctor` reports each fault. */
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Home } from './home.ts';

type Found = { readonly what: string; readonly value: string; readonly ok: boolean; readonly advice?: string };

/** A setting that `doctor` reports. `says` and `advice` match the finding. */
export type Fault = {
  readonly agent: string;
  readonly make: (home: Home) => void;
  readonly says: RegExp;
  readonly advice: RegExp;
};

export const write = (file: string, settings: unknown) => (home: Home) => void home.write(file, JSON.stringify(settings));
export const parsed = (home: Home, file: string) => JSON.parse(home.read(file)) as Record<string, object>;
export const merge = (file: string, settings: (home: Home) => object) => (home: Home) =>
  void home.write(file, JSON.stringify({ ...(home.has(file) ? parsed(home, file) : {}), ...settings(home) }));
export const hooksOf = (home: Home, file: string): Record<string, { hooks: { command: string }[] }[]> =>
  parsed(home, file)['hooks'] as ReturnType<typeof hooksOf>;
export const CLAUDE = '.claude/settings.json';
export const GEMINI = '.gemini/settings.json';
export const ANOTHER = { type: 'stdio', command: 'another-server', args: [] };
export const inProject = (settings: object) => merge('.claude.json', (home) => ({ projects: { [home.project]: settings } }));

export const byHand = (command: string) => ({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } });
export const append = (file: string, text: string) => (home: Home) => void home.write(file, home.read(file) + text);
/** Adds variables to the MCP server of Earpiece. */
export const serverEnv = (file: string, key: string, env: string, variables: object) => (home: Home) => {
  const servers = parsed(home, file)[key] as Record<string, object>;
  merge(file, () => ({ [key]: { ...servers, earpiece: { ...servers['earpiece'], [env]: variables } } }))(home);
};

export type Harmless = Omit<Fault, 'says' | 'advice'>;

export function about(home: Home, agent: string): readonly Found[] {
  const { stdout } = home.run(['doctor', '--json']);
  const all = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Found);
  return all.filter(({ what }) => what === agent);
}

export const reports = (faults: Readonly<Record<string, Fault>>): void =>
  describe.each(Object.entries(faults))('red: %s', (_fault, { agent, make, says, advice }) => {
    proves('hosts:doctor');
    it('doctor reports the setting and its file', () => {
      using home = new Home(agent);
      expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
      make(home);
      const found = about(home, agent);
      const reasons = found.filter(({ value }) => says.test(value));
      expect(reasons, JSON.stringify(found, null, 2)).toMatchObject([{ ok: false }]);
      expect(reasons[0]?.advice).toMatch(advice);
    });
  });

export const reportsNothing = (cases: Readonly<Record<string, Harmless>>): void =>
  describe.each(Object.entries(cases))('green: %s', (_name, { agent, make }) => {
    proves('hosts:doctor');
    it('doctor reports nothing', () => {
      using home = new Home(agent);
      expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
      make(home);
      expect(about(home, agent)).toMatchObject([{ ok: true }]);
    });
  });
