import { z } from 'zod';

const texts = z.array(z.string()).optional();

const ruleSchema = z.object({
  apiGroups: texts,
  resources: texts,
  resourceNames: texts,
  nonResourceURLs: texts,
  verbs: z.array(z.string()),
});

/** One rule of a Role or ClusterRole. */
export interface PolicyRule extends z.infer<typeof ruleSchema> {}

/** A rule and where it holds. */
export interface ScopedRule {
  /** Undefined for the whole cluster. */
  readonly namespace: string | undefined;
  readonly rule: PolicyRule;
}

/** The rules in an object's `rules`, as far as they are some. */
export function parseRules(rules: unknown): readonly PolicyRule[] {
  return z.array(ruleSchema).catch([]).parse(rules);
}
