import { z } from 'zod';
import { contractVersion, type ProvisionerContext } from '../../contracts/provisioner.ts';
import type { Clock } from '../../platform/clock.ts';
import { checkBody, readBody } from './answer-body.ts';
import type { ClassServer } from './class-server.ts';

/** What a server says of itself; what else is in it is for later versions. */
export const classDescriptionSchema = z.object({
  contractVersion: z.number(),
  className: z.string(),
  handlers: z.array(z.enum(['bundle', 'configure', 'deployment', 'inputs'])),
  uses: z.array(z.enum(['cluster', 'seed'])).optional(),
});

type ClassDescription = z.infer<typeof classDescriptionSchema>;

export interface ClassDescriptionsOptions {
  readonly className: string;
  readonly server: ClassServer;
  readonly clock: Clock;
}

const maxBytes = 64 * 1024;
/** A server that was replaced by another version has said so after that. */
const validFor = 60_000;

/** What the server says of itself: asked when it is first needed, as it may start later than we do. */
export class ClassDescriptions {
  readonly #options: ClassDescriptionsOptions;
  #known: { readonly description: ClassDescription; readonly until: number } | undefined;

  constructor(options: ClassDescriptionsOptions) {
    this.#options = options;
  }

  /** What the class was last said to use. */
  get uses(): NonNullable<ClassDescription['uses']> {
    return this.#known?.description.uses ?? [];
  }

  /** @throws Error where another class, or another version of the contract, is served there */
  async get({
    signal,
    logger,
  }: Pick<ProvisionerContext, 'signal' | 'logger'>): Promise<ClassDescription> {
    const { server, clock } = this.#options;
    if (this.#known !== undefined && clock.monotonic() < this.#known.until) {
      return this.#known.description;
    }
    const wanted = { path: 'v1/class', accept: 'application/json', signal };
    const description = await server.call(wanted, async (answer) => {
      checkBody(answer, ['application/json']);
      return this.#checked(JSON.parse((await readBody(answer, maxBytes)).toString('utf8')));
    });
    if (this.#known === undefined)
      logger.info({ server: server.name, ...description }, 'class found');
    this.#known = { description, until: clock.monotonic() + validFor };
    return description;
  }

  #checked(answer: unknown): ClassDescription {
    const { success, data, error } = classDescriptionSchema.safeParse(answer);
    if (!success) {
      const [issue] = error.issues;
      throw new Error(
        `the answer to GET v1/class is no description of a class: ${issue?.path.join('.')}: ${issue?.message}`,
      );
    }
    if (data.contractVersion !== contractVersion) {
      throw new Error(
        `it serves version ${data.contractVersion} of the contract, and this manager knows version ${contractVersion}`,
      );
    }
    if (data.className !== this.#options.className) {
      throw new Error(
        `it serves class ${JSON.stringify(data.className.slice(0, 100))}: correct --provisioner-url`,
      );
    }
    if (data.handlers.includes('configure') && !data.handlers.includes('bundle')) {
      throw new Error(
        'its handlers have "configure" and not "bundle": only the class that a Bundle is unpacked by adapts its content',
      );
    }
    return data;
  }
}
