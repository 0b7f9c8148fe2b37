/**
 * Reads `earpiece.toml`: its settings, their sources, and their effective values. `docs/config.md` describes the file for users.
 * Almost every process loads this module, so the module omits code that few processes need. Code that changes files imports
 * `change.ts`, `edit.ts`, `edit-json.ts` or `replace.ts` directly. Code that reads the servers of another program imports
 * `mcp-servers.ts`.
 */
export { checkConfigText } from './check.ts';
export { deciderOf, explain, type ExplainedSetting } from './explain.ts';
export type { LeftOut, ServerConfig } from './gateway.ts';
export { formatSource, type Flags } from './layers.ts';
export { loadConfig, readConfig, type Config } from './load.ts';
export {
  cacheFolder,
  projectPlace,
  stateFolder,
  userConfigFile,
  userSubscribersFolder,
  type Env,
  type Surroundings,
} from './places.ts';
export { formatProblem, type Problem } from './problems.ts';
export { homeOfProject, nameTold, policySource, rememberProject } from './projects.ts';
export { readEntries, takeName } from './registry.ts';
export { foreignNames, nobodyToAsk } from './foreign.ts';
export { readState, unreadable, unusable, writeState } from './state-file.ts';
export { readToml } from './toml.ts';
export { checkTrustFile, untrustedTold, trustBook, type TrustBook } from './trust.ts';
export { formatDuration, parseDuration } from './values.ts';
export { watchConfig } from './watch.ts';
