import type { Logger } from '../../core/contracts/logger.ts';

/** For parts of core that log what is of no interest to a person at a terminal. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
