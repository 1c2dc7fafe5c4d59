export interface SpoiltConfig {
  /** Such as `with null as config.name`. */
  readonly how: string;
  readonly config: Readonly<Record<string, unknown>> | undefined;
}

const values: readonly unknown[] = [null, 0, '', 'a\nb', [], [null], {}, { a: { b: null } }];

/** spec.config is free-form: the API server takes all of these. */
export function spoiltConfigs(
  config: Readonly<Record<string, unknown>> | undefined,
): readonly SpoiltConfig[] {
  return [
    { how: 'without a config', config: undefined },
    { how: 'with an empty config', config: {} },
    { how: 'with a config that it does not know', config: { 'no-such-field': [{}] } },
    { how: 'with __proto__ in its config', config: prototypeConfig() },
    ...Object.keys(config ?? {}).flatMap((key) =>
      values.map((value) => ({
        how: `with ${JSON.stringify(value)} as config.${key}`,
        config: { ...config, [key]: value },
      })),
    ),
  ];
}

/** As parsed JSON has it: a member like any other. */
function prototypeConfig(): Readonly<Record<string, unknown>> {
  return JSON.parse('{"__proto__": {"polluted": true}}') as Readonly<Record<string, unknown>>;
}
