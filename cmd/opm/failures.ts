import { logLine } from '../ctl/output/loggers.ts';
import { FatalLine } from './cobra/failures.ts';
import { logrusLine } from './logrus.ts';

/** Ends the program with a line of Go's log package, where opm uses that. */
export function logFatal(message: string): FatalLine {
  return new FatalLine(logLine(message).trimEnd());
}

/** Ends the program with a line of logrus, where opm uses that. */
export function logrusFatal(message: string): FatalLine {
  return new FatalLine(logrusLine('fatal', message));
}
