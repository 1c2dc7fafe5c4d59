import { z } from 'zod';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type {
  InputReference,
  Provisioner,
  ProvisionerContext,
} from '../../contracts/provisioner.ts';
import { TerminalError } from '../../errors.ts';

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

/** What deployments ask for, asked of the class once for each version of their spec. */
export class InputReferences {
  /** By deployment name. */
  readonly #entries = new Map<string, Entry>();

  /** @throws TerminalError where the class gives something else. */
  async of(
    deployment: BundleDeployment,
    { className, inputs }: Provisioner,
    context: ProvisionerContext,
  ): Promise<readonly InputReference[]> {
    if (inputs === undefined) return [];
    const { name = '', uid, generation, labels, annotations } = deployment.metadata;
    const key = JSON.stringify([className, uid, generation, labels, annotations]);
    const known = this.#entries.get(name);
    if (known?.key === key) return known.references;
    const references = checked(className, await inputs(deployment, context));
    this.#entries.set(name, { key, references });
    return references;
  }

  /** Names of the deployments that asked for a key of the object. */
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

function checked(className: string, references: unknown): readonly InputReference[] {
  const result = referencesSchema.safeParse(references);
  if (result.success) return result.data as readonly InputReference[];
  const [issue] = result.error.issues;
  const at = issue?.path.join('.') ?? '';
  throw new TerminalError(
    `class "${className}" asks for inputs that are none: [${at}]: ${issue?.message}`,
  );
}
