/**
 * A second door of the apply engine, for code that judges content without applying it: loading the
 * whole engine would take a command longer than its work.
 */

export { isDefinition } from './objects/order.ts';
export { contentProblem } from './plan/content-check.ts';
export { stageOrderProblems } from './stages/stage-order.ts';
