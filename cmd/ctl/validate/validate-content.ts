import { errorMessage } from '../../../core/errors.ts';
import type { BundleFiles } from '../../../core/sdk.ts';
import { classNameOf, helmClass } from '../class-of-content.ts';
import type { Problem } from './problem.ts';
import { type Validation, validateBundle } from './validate-bundle.ts';

/** Everything that is wrong with content of any built-in class. */
export async function validateContent(files: BundleFiles, className?: string): Promise<Validation> {
  const name = classNameOf(files, className);
  return name === helmClass ? await validateChart(files) : validateBundle(files, name);
}

/** A chart may ask for values that it has not: then it is not wrong. */
async function validateChart(files: BundleFiles): Promise<Validation> {
  const { renderChart, storedChart } = await import('../chart/render-chart.ts');
  try {
    await storedChart(files);
  } catch (error) {
    return found({ severity: 'error', message: errorMessage(error), fix: 'correct the chart' });
  }
  try {
    const { length } = await renderChart(files, {});
    return { class: helmClass, objects: length, problems: [] };
  } catch (error) {
    const message = `it cannot be rendered with its own values: ${errorMessage(error)}`;
    const fix = 'where it needs others, try them with "rukpakctl render --values"';
    return found({ severity: 'warning', message, fix });
  }
}

function found(problem: Problem): Validation {
  return { class: helmClass, objects: 0, problems: [problem] };
}
