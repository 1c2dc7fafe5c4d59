/**
 * A second door of the apply engine, for who judges content without applying it: loading the engine
 * for these rules takes a command longer than its work.
 */

export { isDefinition } from './objects/order.ts';
export { contentProblem } from './plan/content-check.ts';
export { stageOrderProblems } from './stages/stage-order.ts';
