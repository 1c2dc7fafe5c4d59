import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import type { RegistryConfig } from '../../../provisioners/registry/index.ts';
import { problemOf } from './finding.ts';
import type { LocatedObject } from './manifest-objects.ts';
import { objectRules } from './object-rules.ts';
import type { Problem } from './problem.ts';
import { type BundleContent, bundleContent } from './registry/bundle-content.ts';
import type { Check, CheckOptions } from './registry/check.ts';
import { classFindings, sampleFindings } from './registry/class-findings.ts';
import { checks } from './registry/index.ts';

export interface RegistryProblemOptions extends CheckOptions {
  /** spec.config of the BundleDeployment that is meant; any that the bundle allows where absent. */
  readonly config?: RegistryConfig;
  /** Names of checks to make beside those that are always made. */
  readonly optional?: readonly string[];
}

/** Everything that the class core-rukpak-io-registry has to say of a bundle, and catalogs' tools. */
export function registryProblems(
  files: BundleFiles,
  objects: readonly LocatedObject[],
  options: RegistryProblemOptions = {},
): readonly Problem[] {
  const content = bundleContent(files, objects);
  const { optional = [] } = options;
  const wanted = checks.filter((check) => !check.optional || optional.includes(check.name));
  // The CSV itself is never applied.
  const applied = objects.filter(({ object }) => object.kind !== 'ClusterServiceVersion');
  const refused = [
    ...classFindings(content, options.config),
    ...objectRules.flatMap((rule) => rule(applied)),
    ...sampleFindings(content),
  ];
  return [
    ...refused.map((finding) => problemOf(finding, content.lines)),
    ...wanted.flatMap((check) => problemsOf(content, check, options)),
  ];
}

function problemsOf(
  content: BundleContent,
  check: Check,
  options: CheckOptions,
): readonly Problem[] {
  return check.find(content, options).map((finding) => ({
    ...problemOf(finding, content.lines),
    // What the API server refuses is no mere matter of another tool.
    ...(check.blocking === true ? {} : { check: check.name }),
  }));
}
