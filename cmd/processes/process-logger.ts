import type { Logger } from '../../core/contracts/logger.ts';
import { createLogger, type LogLevel } from '../../core/platform/observe/index.ts';
import { readableLine } from '../ctl/output/readable-line.ts';
import { type Colour, coloured, type Screen, showsColour } from '../ctl/terminal/paint.ts';

const colourOf: ReadonlyMap<string, Colour> = new Map([
  ['debug', 'gray'],
  ['warn', 'yellow'],
  ['error', 'red'],
]);

/** Converts a line of JSON for a terminal; undefined for a file or a pipe. */
export function logFormat(
  screen: Screen,
  env: NodeJS.ProcessEnv = process.env,
): ((line: string) => string) | undefined {
  if (screen.isTTY !== true) return undefined;
  if (!showsColour(screen, env)) return readableLine;
  return (line) => readableLine(line).replace(/(?<=^[\d:]{8} )[a-z]+/, colouredLevel);
}

function colouredLevel(level: string): string {
  const colour = colourOf.get(level);
  return colour === undefined ? level : coloured(colour, level);
}

/** Readable lines at a terminal, otherwise JSON for log collectors. */
export function processLogger(level: LogLevel): Logger {
  return createLogger(level, logFormat(process.stderr));
}
