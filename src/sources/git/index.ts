/** The git source, which emits changes that others make to the agent's repository. */
export { gitSource, type GitOptions, type GitSource } from './git-source.ts';
export { changesBetween, NOTHING_TOLD, toldAfter, type Told } from './changes.ts';
export { gitIn } from './command.ts';
export { detailsOf } from './details.ts';
export { gitEvent } from './events.ts';
export { placesOf, readState, type GitState } from './state.ts';
