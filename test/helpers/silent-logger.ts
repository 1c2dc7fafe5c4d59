/** For tests that do not look at the log. */
export { silentLogger } from '../../testing/contexts.ts';
