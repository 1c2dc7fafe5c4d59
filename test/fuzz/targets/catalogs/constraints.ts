import fc from 'fast-check';
import { ConstraintError, constraintsOf } from '../../../../resolver/constraints/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

const properties = [
  { type: 'olm.package', value: { packageName: 'blue', version: '1.2.3' } },
  { type: 'olm.gvk', value: { group: 'g.example.com', version: 'v1', kind: 'G' } },
  { type: 'certified', value: { list: [1, 'a', null, { b: 1.5 }], text: 'x'.repeat(1_000) } },
];
const candidate = { packageName: 'blue', version: undefined, properties };

const ofRules =
  'properties|p.value|p.type|.list|.text|[0]|["b"]|.exists(p, |.all(p, |.map(p, |.filter(p, |)|(|has(p.value.list)| == | < | + | && | || |!|-| ? | : |1|2u|1.5|null|true|"a"|b"\\xff"|r"\\d"|[p, p]|{p: p}|.size()|.matches("(a|b)*")|semver_compare("1", p)|type(p)|int(p)|string(p)|dyn(p)|timestamp(p)|.getHours("UTC")|duration("1h")| in |p + p|\n';

const rule = fc
  .array(fc.constantFrom(...ofRules.split(/(?<!\|)\|(?!\|)/)), { maxLength: 15 })
  .map((chosen) => JSON.stringify({ cel: { rule: `properties.exists(p, ${chosen.join('')})` } }));

/** The value of an olm.constraint: refused in OLM's words, or a test of any bundle. */
export const constraints: FuzzTarget = {
  name: 'constraints',
  seeds: [
    '{"failureMessage":"needs it","cel":{"rule":"properties.exists(p, p.type == \\"certified\\" && p.value.list[0] > 0)"}}',
    '{"all":{"constraints":[{"package":{"packageName":"blue","versionRange":">=1.0.0 <2.0.0"}},{"not":{"constraints":[{"gvk":{"group":"g","kind":"K","version":"v1"}}]}}]}}',
    '{"cel":{"rule":"[[1]].map(x, x + x).map(x, [x, x]) == [] || semver_compare(\\"v1.2\\", 1.5) < 0"}}',
    '{"any":{"constraints":[{"cel":{"rule":"properties.all(p, p.value.text.matches(\\"(x|xx)+y\\"))"}}]},"GVK":null}',
  ],
  words: [
    '"all"',
    '"any"',
    '"not"',
    '"constraints"',
    '"cel"',
    '"rule"',
    '"gvk"',
    '"package"',
  ].concat('{},[],null,\\",\\\\,__proto__,.map(x\\, x),properties'.split(',')),
  made: rule,
  refusals: [ConstraintError],
  // Problems of an expression, each with its line and its place.
  lineBreaks: /\n(?: \| |ERROR: |\d+ more)/g,
  read(input) {
    const value = parsed(textOf(input));
    const [requirement] = constraintsOf([{ type: 'olm.constraint', value }]);
    if (requirement === undefined) throw new Violation('a constraint requires nothing');
    const isMet = requirement.isMetBy(candidate);
    const refusal = requirement.refusal(candidate);
    if (isMet && refusal !== undefined) throw new Violation('a refused rule is met');
    if (refusal === '') throw new Violation('refuses a rule without a reason');
  },
};

/** A text that is no JSON is a value too. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { cel: { rule: text } };
  }
}
