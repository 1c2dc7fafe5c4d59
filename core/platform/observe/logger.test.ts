import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const module = new URL('./logger.ts', import.meta.url).href;

/** What a process of its own prints, whose `logger` has that level. */
function printed(level: string, code: string): { stdout: string; lines: object[] } {
  const script = `import { createLogger } from '${module}'; const logger = createLogger('${level}'); ${code}`;
  const args = ['--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return { stdout, lines: lines.map((line) => JSON.parse(line) as object) };
}

test('a log is JSON lines on stderr, in order and complete, even where the process ends at once', () => {
  const { stdout, lines } = printed(
    'info',
    `logger.debug({}, 'hidden');
     logger.info({ server: 'https://api' }, 'starting');
     const child = logger.child({ controller: 'bundle' });
     child.warn({ tries: 2 }, 'again');
     child.error({ error: 'line one\\nline two' }, 'failed');
     process.exit(1);`,
  );
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
  expect(lines).toEqual([
    { level: 'info', time, server: 'https://api', msg: 'starting' },
    { level: 'warn', time, controller: 'bundle', tries: 2, msg: 'again' },
    { level: 'error', time, controller: 'bundle', error: 'line one\nline two', msg: 'failed' },
  ]);
  expect(stdout).toBe('');
});

test('the level decides', () => {
  const code = `for (const level of ['debug', 'info', 'warn', 'error']) logger[level]({}, level);`;
  const said = (level: string) => printed(level, code).lines.map((line) => Object.values(line)[0]);
  expect(said('debug')).toEqual(['debug', 'info', 'warn', 'error']);
  expect(said('error')).toEqual(['error']);
});
