import { expect, test } from 'vitest';
import { TerminalError } from '../../../core/errors.ts';
import { faultOfChart } from './render-chart.ts';

test('a chart is told what is wrong with it', () => {
  expect(faultOfChart(new TerminalError('Chart.yaml file is missing'))).toBe(
    'Chart.yaml file is missing',
  );
});

test('an engine that is not built is no fault of a chart', () => {
  const error = new Error("Helm's engine is not built");
  expect(() => faultOfChart(error)).toThrow(error);
});
