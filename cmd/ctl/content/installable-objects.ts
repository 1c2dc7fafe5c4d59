import { TerminalError } from '../../../core/errors.ts';
import { parseManifests, parsingOnce } from '../../../core/manifests/index.ts';
import type { BundleFiles, KubernetesObject } from '../../../core/sdk.ts';
import { classNameOf, helmClass, registryClass } from '../../../provisioners/class-of-content.ts';
import { parseRegistryManifest } from '../../../provisioners/registry/index.ts';
import { type RenderContentOptions, registryConfigOf, renderContent } from './render-content.ts';

/**
 * The objects of content of any built-in class, as `render` prints them: none that could not be
 * installed.
 * @throws TerminalError with the message of the conditions, or with every error that `validate`
 * reports.
 */
export async function installableObjects(
  files: BundleFiles,
  options: RenderContentOptions,
): Promise<readonly KubernetesObject[]> {
  const className = classNameOf(files, options.className);
  const [objects, refusals] =
    className === helmClass
      ? await judgedChart(files, options)
      : await judgedBundle(files, { ...options, className });
  if (refusals.length > 0) throw new TerminalError(refusals.join('\n'));
  return objects;
}

type Judged = readonly [objects: readonly KubernetesObject[], refusals: readonly string[]];

async function judgedChart(files: BundleFiles, options: RenderContentOptions): Promise<Judged> {
  const objects = await renderContent(files, options);
  return [objects, await chartRefusals(objects, options)];
}

async function judgedBundle(
  files: BundleFiles,
  options: RenderContentOptions & { readonly className: string },
): Promise<Judged> {
  const { problemLine, refusalsOf } = await import('../../../catalog/bundle-checks/index.ts');
  const { className, config: written } = options;
  // The checks read all files again.
  const parse = parsingOnce(className === registryClass ? parseRegistryManifest : parseManifests);
  const objects = await renderContent(files, { ...options, parse });
  const config = written === undefined ? undefined : registryConfigOf({ config: written });
  const rules = { className, parse, ...(config === undefined ? {} : { config }) };
  return [objects, refusalsOf(files, rules, objects.length).map(problemLine)];
}

/** Checks the objects themselves, because only `render` has all of the values. */
async function chartRefusals(
  objects: readonly KubernetesObject[],
  { chart }: RenderContentOptions,
): Promise<readonly string[]> {
  // The checks know one version of Kubernetes.
  if (chart?.kubeVersion !== undefined) return [];
  const { isError, problemLine, renderedObjectProblems } = await import(
    '../../../catalog/bundle-checks/index.ts'
  );
  return renderedObjectProblems(objects).filter(isError).map(problemLine);
}
