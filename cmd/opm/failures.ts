import { logLine } from '../ctl/loggers.ts';
import { FatalLine } from './cobra/failures.ts';
import { logrusLine } from './logrus.ts';

/** Ends the program as opm does where it logs with Go's log package. */
export function logFatal(message: string): FatalLine {
  return new FatalLine(logLine(message).trimEnd());
}

/** Ends the program as opm does where it logs with logrus. */
export function logrusFatal(message: string): FatalLine {
  return new FatalLine(logrusLine('fatal', message));
}
