import { InvalidArgumentError } from 'commander';

/** Objects are named after the class, and the names of some may not be longer than 63. */
const longest = 50;

const rules: readonly { readonly broken: RegExp; readonly message: string }[] = [
  {
    broken: /^(?![a-z]([-a-z0-9]*[a-z0-9])?$)/,
    message:
      'It must have lower-case letters, digits and "-" only, begin with a letter and not end in "-".',
  },
  {
    broken: new RegExp(`^.{${longest + 1}}`),
    message: `It must not be longer than ${longest} characters.`,
  },
  {
    broken: /^core-rukpak-io/,
    message: 'Names that begin with "core-rukpak-io" are of built-in classes.',
  },
  {
    broken: /^(y|n|yes|no|on|off|true|false|null)$/,
    message: 'YAML takes that word for something else than a name.',
  },
];

/**
 * The name of a new class: one that RukPak accepts, and a Service too.
 * @throws InvalidArgumentError that says what is wrong with it.
 */
export function className(name: string): string {
  const rule = rules.find(({ broken }) => broken.test(name));
  if (rule === undefined) return name;
  throw new InvalidArgumentError(rule.message);
}
