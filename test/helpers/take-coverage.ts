import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

// Vitest ends its workers by a signal, at which Node writes nothing (`npm run coverage`).
afterAll(() => {
  if (process.env['NODE_V8_COVERAGE'] !== undefined) takeCoverage();
});
