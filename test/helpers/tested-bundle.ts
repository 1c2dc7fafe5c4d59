import type { BundleFiles } from '../../core/sdk.ts';
import { type InstallMode, installModes } from './install-modes.ts';

/** A registry+v1 bundle, and what conversion is expected to make of it. */
export interface TestedBundle {
  /** `<package>/<version>`, and the folder in it where the bundle begins deeper. */
  readonly name: string;
  /** How many objects it becomes without a spec.config, or why it is refused. */
  readonly withoutConfig: number | string;
  /** The same by the install modes that its CSV allows. */
  readonly modes: ReadonlyMap<InstallMode, number | string>;
  /** Kinds that its CSV requires of others, such as `example.com/v1/Thing`. */
  readonly required: readonly string[];
  /** Kinds that it has objects of, and brings no CRD for. */
  readonly foreign: readonly string[];
  readonly content: () => BundleFiles;
  /** A directory with its files: a folder to write is used where it has none of its own. */
  readonly directory: (folder: string) => string;
}

/** Without spec.config, and for each install mode that the CSV allows, by its first letter. */
export interface Outcomes {
  readonly without: number | string;
  readonly A?: number | string;
  readonly O?: number | string;
  readonly S?: number | string;
  readonly M?: number | string;
}

/** The outcomes of a bundle as tests compare them. */
export function expectedOf({
  without,
  A,
  O,
  S,
  M,
}: Outcomes): Pick<TestedBundle, 'withoutConfig' | 'modes'> {
  const byMode = [A, O, S, M].flatMap((outcome, index) => {
    const mode = installModes[index];
    return outcome === undefined || mode === undefined ? [] : [[mode, outcome] as const];
  });
  return { withoutConfig: without, modes: new Map(byMode) };
}

const prefix = 'convert registry+v1 bundle to plain+v0 bundle: ';

/** The refusal of a bundle that does not support all namespaces, and has no spec.config. */
export const allNamespacesNeeded = `${prefix}AllNamespace install mode must be enabled`;

/** The refusal of CRDs of v1beta1: how many there are, and the names of the first five. */
export function goneDefinitions(count: number, names: readonly string[]): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const are = count === 1 ? 'is' : 'are';
  return `${prefix}bundle contains CustomResourceDefinitions that no cluster since Kubernetes 1.22 takes: ${names.join(', ')}${more} ${are} of apiextensions.k8s.io/v1beta1; take a later version of the operator, or have its CRDs rewritten for apiextensions.k8s.io/v1`;
}

/** Two refusals of one bundle, which are reported at once. */
export function bothRefusals(first: string, second: string): string {
  return `${first}\nand 1 more problem:\n- ${second.slice(prefix.length)}`;
}
