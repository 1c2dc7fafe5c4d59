import type { Logger } from '../../core/contracts/logger.ts';

/** For tests that do not look at the log. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
