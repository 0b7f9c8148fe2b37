/** `earpiece.toml`: what it may say, who said it, and what follows from it. `docs/config.md` is its page for people. */
export { configWriter, type Asked, type Changed, type ConfigWriter, type Scope } from './change.ts';
export { changeOf, takesEffect, type Change } from './changeable.ts';
export { checkConfigText, type Checked, type Entry } from './check.ts';
export { editToml, type Edited } from './edit.ts';
export { appendJson, jsonAt, jsonProblem, removeJson, setJson } from './edit-json.ts';
export { deciderOf, explain, type Explained, type ExplainedSetting } from './explain.ts';
export type { GatewayConfig, LeftOut, ServerConfig } from './gateway.ts';
export { formatSource, type Flags, type Said, type Source } from './layers.ts';
export { loadConfig, readConfig, type Config, type LoadOptions, type ToolConfig } from './load.ts';
export { parseMcpServers, readMcpServers, type McpServers } from './mcp-servers.ts';
export {
  CONFIG_FILE,
  projectPlace,
  stateFolder,
  userConfigFile,
  userSubscribersFolder,
  type Env,
  type Surroundings,
} from './places.ts';
export { formatProblem, type Position, type Problem } from './problems.ts';
export { homeOfProject, nameTold, policySource, rememberProject, type PolicySource } from './projects.ts';
export { readEntries, takeName } from './registry.ts';
export { foreignNames, nobodyToAsk } from './foreign.ts';
export { replaceFile } from './replace.ts';
export { readState, unreadable, unusable, writeState } from './state-file.ts';
export { readToml } from './toml.ts';
export type { ProfileEntry, ServerEntry } from './servers.ts';
export { checkTrustFile, untrustedTold, trustBook, type TrustBook, type Untrusted } from './trust.ts';
export { formatDuration, parseDuration, type Form } from './values.ts';
export { watchConfig, type ConfigWatch, type WatchOptions } from './watch.ts';
export type { WebhookEntry, WebhookMap } from './webhooks.ts';
