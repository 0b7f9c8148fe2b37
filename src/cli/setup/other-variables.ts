/**
 * Compares the variables that an agent's settings give to Earpiece with this shell. A notification that this shell sends to
 * another database or project never reaches the agent.
 */
import { readConfig, type Config } from '../../config/index.ts';
import { withoutSecretsIn } from '../../config/secret-words.ts';
import { parseAddress } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { SetVariable } from '../../hosts/setup/index.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Reason = { readonly why: string; readonly advice: string };

const WHO: Readonly<Record<SetVariable['of'], string>> = {
  all: 'the hooks and the MCP server use',
  server: 'the MCP server uses',
  commands: 'the commands of the agent use',
};

/**
 * Returns one reason for each variable that makes Earpiece use another database or project than this shell. Also reports a
 * variable that gives the MCP server another address than the hooks. `named`: the database of the command line of doctor. `said`:
 * the database that the installed entries name, which no variable overrides.
 */
export function otherVariables(
  variables: readonly SetVariable[],
  { named, said }: { readonly named?: string | undefined; readonly said?: string | undefined },
): readonly Reason[] {
  const { env } = process;
  const shell = factsOf(env, named);
  const agent = { ...env, ...valuesOf(variables.filter(({ of }) => of === 'all')) };
  return variables.flatMap((each) => {
    const base = each.of === 'all' ? env : agent;
    const without = factsOf(base);
    const facts = factsOf({ ...base, ...valuesOf([each]) });
    const isOtherDb = said === undefined && facts.db !== shell.db && (each.name === 'EARPIECE_DB' || facts.db !== without.db);
    const isOtherProject = facts.project !== shell.project && facts.project !== without.project;
    const effect = isOtherDb
      ? `${WHO[each.of]} another database than this shell`
      : isOtherProject || leadsAway(facts, shell, each)
        ? `${WHO[each.of]} another project than this shell`
        : each.of === 'server' && facts.address !== without.address
          ? 'the MCP server has another address than the hooks'
          : undefined;
    return effect === undefined ? [] : [reason(each, effect)];
  });
}

type Facts = Pick<Config, 'db' | 'project' | 'address'>;

const factsOf = (env: Env, db?: string): Facts => readConfig({ cwd: process.cwd(), env, flags: defined({ db }) }).config;

const valuesOf = (variables: readonly SetVariable[]): Env =>
  Object.fromEntries(variables.map(({ name, value }) => [name, value]));

/** Whether the variable is an address in another project. An address without a project is in this project. */
function leadsAway({ address }: Facts, shell: Facts, { name }: SetVariable): boolean {
  if (name !== 'EARPIECE_ADDRESS' || address === undefined || !address.includes('/')) return false;
  try {
    return parseAddress(address).project !== shell.project;
  } catch (error) {
    if (error instanceof EarpieceError) return false;
    throw error;
  }
}

function reason({ name, value, file, key, of, isMachine }: SetVariable, effect: string): Reason {
  const why = `${file} has ${key} = ${withoutSecretsIn(value)}: ${effect}`;
  if (isMachine) return { why, advice: 'ask the administrator of this machine to remove this variable' };
  const remove = `remove this variable from ${file}`;
  return { why, advice: of === 'all' ? `${remove}, or set ${name} to the same value in this shell` : remove };
}
