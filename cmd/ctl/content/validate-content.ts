import type { JsonObject } from '../../../api/json.ts';
import {
  isError,
  type Problem,
  renderedObjectProblems,
  type ValidateOptions,
  type Validation,
  validateBundle,
} from '../../../catalog/bundle-checks/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { BundleFiles } from '../../../core/sdk.ts';
import { classNameOf, helmClass, plainClass } from '../../../provisioners/class-of-content.ts';
import { faultOfChart } from './render-chart.ts';
import { registryConfigOf } from './render-content.ts';

interface ValidateContentOptions extends Omit<ValidateOptions, 'config'> {
  /** spec.config as written. */
  readonly config?: JsonObject;
}

/** Every problem of content of any built-in class. */
export async function validateContent(
  files: BundleFiles,
  { config: written, ...options }: ValidateContentOptions = {},
): Promise<Validation> {
  const className = classNameOf(files, options.className);
  if (className === helmClass) return await validateChart(files, written);
  if (className === plainClass && written !== undefined) {
    throw new TerminalError(
      '--config: plain content is applied as written, whatever spec.config has',
    );
  }
  const config = registryConfigOf(written === undefined ? {} : { config: written });
  return validateBundle(files, {
    ...options,
    className,
    ...(config === undefined ? {} : { config }),
  });
}

/** A chart may require values that it lacks; that is not a problem of the chart. */
async function validateChart(
  files: BundleFiles,
  config: JsonObject | undefined,
): Promise<Validation> {
  const { renderChart, storedChart } = await import('./render-chart.ts');
  try {
    await storedChart(files);
  } catch (error) {
    return found({ severity: 'error', message: faultOfChart(error), fix: 'correct the chart' });
  }
  try {
    const objects = await renderChart(files, config === undefined ? {} : { config });
    const problems = renderedObjectProblems(objects);
    const installable = !problems.some(isError);
    const { length } = installable ? objects : [];
    return { class: helmClass, installable, objects: length, problems };
  } catch (error) {
    const fault = faultOfChart(error);
    const values = config === undefined ? 'its own values' : 'these values';
    const message = `it cannot be rendered with ${values}: ${fault}`;
    if (config !== undefined) {
      return found({ severity: 'error', message, fix: 'correct the file of --config' });
    }
    const fix = 'if it needs other values, try them with "rukpakctl render --values"';
    return found({ severity: 'warning', message, fix });
  }
}

function found(problem: Problem): Validation {
  const installable = problem.severity === 'warning';
  return { class: helmClass, installable, objects: 0, problems: [problem] };
}
