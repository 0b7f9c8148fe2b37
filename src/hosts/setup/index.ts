export { install, uninstall } from './apply.ts';
export { partsOfLine, type Ours } from './ours.ts';
export { changes, isPending, planInstall, planUninstall, type FilePlan } from './plan.ts';
export { readSettings } from './read-settings.ts';
export { installBook, type InstallBook } from './record.ts';
export type { EnabledPlugin, Hooks, Place, Scope, Setup, SetVariable } from './setup.ts';
export { SETUPS } from './setups.ts';
export { syntaxProblem } from './syntax.ts';
export { wrappingOf } from './wrap.ts';
