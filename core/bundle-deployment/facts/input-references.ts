import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type {
  InputReference,
  Provisioner,
  ProvisionerContext,
} from '../../contracts/provisioner.ts';
import { TerminalError } from '../../errors.ts';

export interface Inputs {
  readonly deployment: BundleDeployment;
  readonly references: readonly InputReference[];
}

const maxReferences = 100;

const referencesSchema = z
  .array(
    z.object({
      kind: z.enum(['ConfigMap', 'Secret']),
      name: z.string().min(1).max(253),
      key: z.string().min(1).max(253),
      optional: z.boolean().optional(),
    }),
  )
  .max(maxReferences);

interface Entry {
  readonly key: string;
  readonly references: readonly InputReference[];
}

/** The references of a deployment, and whether its class has named them before, not just now. */
interface NamedReferences {
  readonly references: readonly InputReference[];
  readonly areRemembered: boolean;
}

/** The input references of deployments, as their classes last named them. */
export class InputReferences {
  /** By deployment name. */
  readonly #entries = new Map<string, Entry>();

  /**
   * Asks the class once for each generation.
   * @throws TerminalError when the class returns anything else.
   */
  async of(
    deployment: BundleDeployment,
    provisioner: Provisioner,
    context: ProvisionerContext,
  ): Promise<NamedReferences> {
    const known = this.#entries.get(deployment.metadata.name ?? '');
    if (known?.key === keyOf(deployment, provisioner)) {
      return { references: known.references, areRemembered: true };
    }
    return { references: await this.ask(deployment, provisioner, context), areRemembered: false };
  }

  /**
   * Asks the class again: a server over HTTP may have been replaced by a version that names others.
   * @throws TerminalError when the class returns anything else.
   */
  async ask(
    deployment: BundleDeployment,
    provisioner: Provisioner,
    context: ProvisionerContext,
  ): Promise<readonly InputReference[]> {
    const references = await namedInputs(deployment, provisioner, context);
    if (provisioner.inputs !== undefined) {
      const entry = { key: keyOf(deployment, provisioner), references };
      this.#entries.set(deployment.metadata.name ?? '', entry);
    }
    return references;
  }

  /** Names of the deployments that use a key of the object. */
  askingFor({ kind, name }: Pick<InputReference, 'kind' | 'name'>): readonly string[] {
    return [...this.#entries]
      .filter(([, { references }]) =>
        references.some((reference) => reference.kind === kind && reference.name === name),
      )
      .map(([deploymentName]) => deploymentName);
  }

  forget(deploymentName: string): void {
    this.#entries.delete(deploymentName);
  }
}

function keyOf({ metadata }: BundleDeployment, { className }: Provisioner): string {
  const { uid, generation, labels, annotations = {} } = metadata;
  const { [annotation.notedStatus]: _, ...others } = annotations;
  return JSON.stringify([className, uid, generation, labels, others]);
}

/** @throws TerminalError when the class returns anything else. */
async function namedInputs(
  deployment: BundleDeployment,
  { className, inputs }: Provisioner,
  context: ProvisionerContext,
): Promise<readonly InputReference[]> {
  return inputs === undefined ? [] : checked(className, await inputs(deployment, context));
}

/**
 * Whether the class still names the inputs that values were read for: another version of it could
 * take one for another.
 */
export async function stillNames(
  { deployment, references }: Inputs,
  provisioner: Provisioner,
  context: ProvisionerContext,
): Promise<boolean> {
  return isDeepStrictEqual(await namedInputs(deployment, provisioner, context), references);
}

function checked(className: string, references: unknown): readonly InputReference[] {
  const result = referencesSchema.safeParse(references);
  if (result.success) return result.data as readonly InputReference[];
  const [issue] = result.error.issues;
  const at = issue?.path.join('.') ?? '';
  throw new TerminalError(
    `class "${className}" returns invalid inputs: [${at}]: ${issue?.message}`,
  );
}
