package syntax

// rule says that a type of node is a symbol, and how to find its name. The
// first rule of a node that applies is the one; a node without one is looked
// into.
type rule struct {
	node    string                            // the type of the node
	kind    Kind                              // "" for a place that lends its name to what it holds
	name    string                            // paths to the name, see follow, separated by "|"
	plain   string                            // types that the name's node must have; "" for any
	when    string                            // "path", "path:types" or "path=lower-case texts"
	within  string                            // types of the parent, one of which it must have
	unless  string                            // types of the parent, none of which it may have
	split   string                            // the name may be qualified; the words here qualify nothing
	prefix  string                            // before the name
	each    string                            // a field or type that may be there several times, each with a name
	pattern bool                              // the name is a pattern, such as {a, b: c}, of several
	rename  func(heading, name string) string // makes the name of what stands before it, too
	lends   func(name string) string          // the name that what it holds is named below; nil for its own
	clean   func(string) string               // makes the name of the text
	clauses string                            // path to its parameters; what follows directly with the same name and as many is the same symbol
	leaf    bool                              // what it holds is its own affair
	flat    bool                              // what it holds is not named below it
	skip    bool                              // neither a symbol nor looked into
	fault   bool                              // a mistake that the grammar lets pass
}

func pythonRules() []rule {
	return []rule{
		{node: "class_definition", kind: Class, name: "name"},
		{node: "function_definition", kind: Function, name: "name", rename: pythonAccessor, leaf: true},
		{node: "assignment", kind: Variable, name: "left", plain: "identifier", leaf: true},
		{node: "type_alias_statement", kind: Type, name: "left|#type", leaf: true},
		{node: "assignment", kind: Variable, name: "left", plain: "pattern_list tuple_pattern list_pattern", pattern: true, leaf: true},
		{node: "assignment", skip: true},
		{node: "call", skip: true},
	}
}

const (
	scriptClosures  = "arrow_function function_expression function generator_function"
	scriptFunctions = "value:" + scriptClosures
	classes         = "value:class class_expression"
)

// scriptRules serve JavaScript and TypeScript, whose grammar extends the
// first one's.
func scriptRules() []rule {
	const local = "for_in_statement for_statement"
	return []rule{
		{node: "class_declaration", kind: Class, name: "name"},
		{node: "abstract_class_declaration", kind: Class, name: "name"},
		{node: "interface_declaration", kind: Interface, name: "name"},
		{node: "type_alias_declaration", kind: Type, name: "name", leaf: true},
		{node: "enum_declaration", kind: Enum, name: "name"},
		{node: "property_identifier", kind: Constant, name: ".", within: "enum_body", leaf: true},
		{node: "enum_assignment", kind: Constant, name: "name", leaf: true},
		{node: "internal_module", kind: Module, name: "name"},
		{node: "module", kind: Module, name: "name"},
		{node: "function_declaration", kind: Function, name: "name", leaf: true},
		{node: "generator_function_declaration", kind: Function, name: "name", leaf: true},
		{node: "function_signature", kind: Prototype, name: "name", leaf: true},
		{node: "method_definition", kind: Method, name: "name", when: "name=constructor", flat: true},
		{node: "statement_block", skip: true, within: "method_definition"},
		{node: "required_parameter", kind: Field, name: "pattern", when: "#accessibility_modifier", within: "formal_parameters", leaf: true},
		{node: "method_definition", kind: Method, name: "name", rename: scriptAccessor, leaf: true},
		{node: "method_signature", kind: Method, name: "name", leaf: true},
		{node: "abstract_method_signature", kind: Method, name: "name", leaf: true},
		{node: "property_signature", kind: Field, name: "name", within: "interface_body", leaf: true},
		{node: "field_definition", kind: Method, name: "property", when: scriptFunctions, leaf: true},
		{node: "field_definition", kind: Field, name: "property", leaf: true},
		{node: "public_field_definition", kind: Method, name: "name", when: scriptFunctions, leaf: true},
		{node: "public_field_definition", kind: Field, name: "name", leaf: true},
		{node: "variable_declarator", kind: Function, name: "name", plain: "identifier", when: scriptFunctions, leaf: true},
		{node: "variable_declarator", kind: Class, name: "name", plain: "identifier", when: classes},
		{node: "variable_declarator", skip: true, within: local},
		{node: "variable_declarator", kind: Variable, name: "name", plain: "identifier"},
		{node: "variable_declarator", kind: Variable, name: "name", plain: "object_pattern array_pattern", pattern: true, leaf: true},
		{node: "assignment_expression", kind: Function, name: "left", plain: "member_expression identifier", when: "right:" + scriptClosures, split: scriptOwners, leaf: true},
		{node: "assignment_expression", kind: Class, name: "left", plain: "member_expression identifier", when: "right:class", split: scriptOwners},
		{node: "pair", kind: Method, name: "key", plain: "property_identifier string", when: scriptFunctions, leaf: true},
	}
}

const scriptOwners = "module exports prototype this window globalThis self"

func rustRules() []rule {
	return []rule{
		{node: "function_item", kind: Function, name: "name", leaf: true},
		{node: "function_signature_item", kind: Prototype, name: "name", leaf: true},
		{node: "struct_item", kind: Struct, name: "name"},
		{node: "union_item", kind: Struct, name: "name"},
		{node: "enum_item", kind: Enum, name: "name"},
		{node: "enum_variant", kind: Constant, name: "name", leaf: true},
		{node: "field_declaration", kind: Field, name: "name", leaf: true},
		{node: "trait_item", kind: Interface, name: "name"},
		{node: "impl_item", kind: Impl, name: ".", clean: implHeading, lends: implOwner},
		{node: "mod_item", kind: Module, name: "name"},
		{node: "type_item", kind: Type, name: "name", leaf: true},
		{node: "associated_type", kind: Type, name: "name", leaf: true},
		{node: "const_item", kind: Constant, name: "name", leaf: true},
		{node: "static_item", kind: Variable, name: "name", leaf: true},
		{node: "macro_definition", kind: Macro, name: "name", leaf: true},
		{node: "macro_invocation", skip: true},
	}
}

func javaRules() []rule {
	return []rule{
		{node: "class_declaration", kind: Class, name: "name"},
		{node: "record_declaration", kind: Class, name: "name"},
		{node: "interface_declaration", kind: Interface, name: "name"},
		{node: "annotation_type_declaration", kind: Interface, name: "name"},
		{node: "enum_declaration", kind: Enum, name: "name"},
		{node: "enum_constant", kind: Constant, name: "name", leaf: true},
		{node: "method_declaration", kind: Method, name: "name", leaf: true},
		{node: "annotation_type_element_declaration", kind: Method, name: "name", leaf: true},
		{node: "constructor_declaration", kind: Method, name: "name", leaf: true},
		{node: "compact_constructor_declaration", kind: Method, name: "name", leaf: true},
		{node: "field_declaration", kind: Field, name: "declarator/name", each: "declarator", leaf: true},
		{node: "constant_declaration", kind: Constant, name: "declarator/name", each: "declarator", leaf: true},
		{node: "static_initializer", skip: true},
		{node: "block", skip: true},
	}
}

// cRules serve C and C++.
func cRules() []rule {
	const function, owners = "declarator*:function_declarator operator_cast", "-"
	return []rule{
		{node: "function_definition", kind: Function, name: "declarator*", split: owners, when: function, clean: operatorName, rename: testName, leaf: true},
		{node: "function_definition", kind: Variable, name: "declarator*", plain: "field_identifier", leaf: true}, // "int a = 0;" in a class
		{node: "function_definition", kind: Function, name: "declarator*", split: owners, leaf: true},
		{node: "declaration", kind: Prototype, name: "declarator*", split: owners, when: function, clean: operatorName, leaf: true},
		{node: "declaration", kind: Variable, name: "declarator*", plain: "identifier", each: "declarator"},
		{node: "field_declaration", kind: Prototype, name: "declarator*", when: function, clean: operatorName, leaf: true},
		{node: "field_declaration", kind: Field, name: "declarator*", plain: "field_identifier", each: "declarator"},
		{node: "struct_specifier", kind: Struct, name: "name", when: "body", unless: "type_definition"},
		{node: "union_specifier", kind: Struct, name: "name", when: "body", unless: "type_definition"},
		{node: "enum_specifier", kind: Enum, name: "name", when: "body", unless: "type_definition"},
		{node: "class_specifier", kind: Class, name: "name", when: "body"},
		{node: "enumerator", kind: Constant, name: "name", leaf: true},
		{node: "type_definition", kind: Struct, name: "declarator*", when: "type:struct_specifier union_specifier"},
		{node: "type_definition", kind: Enum, name: "declarator*", when: "type:enum_specifier"},
		{node: "type_definition", kind: Type, name: "declarator*", each: "declarator", leaf: true},
		{node: "alias_declaration", kind: Type, name: "name", leaf: true},
		{node: "concept_definition", kind: Type, name: "name", leaf: true},
		{node: "namespace_definition", kind: Module, name: "name", clean: dotNames},
		{node: "preproc_def", kind: Constant, name: "name", when: "value", leaf: true},
		{node: "preproc_def", kind: Macro, name: "name", leaf: true},
		{node: "preproc_function_def", kind: Macro, name: "name", leaf: true},
		{node: "initializer_list", skip: true},
	}
}

func csharpRules() []rule {
	const declared = "#variable_declaration/#variable_declarator/name|#variable_declaration/#variable_declarator/#identifier"
	return []rule{
		{node: "namespace_declaration", kind: Module, name: "name"},
		{node: "file_scoped_namespace_declaration", kind: Module, name: "name", flat: true},
		{node: "class_declaration", kind: Class, name: "name"},
		{node: "record_declaration", kind: Class, name: "name"},
		{node: "record_struct_declaration", kind: Struct, name: "name"},
		{node: "struct_declaration", kind: Struct, name: "name"},
		{node: "interface_declaration", kind: Interface, name: "name"},
		{node: "enum_declaration", kind: Enum, name: "name"},
		{node: "enum_member_declaration", kind: Constant, name: "name", leaf: true},
		{node: "delegate_declaration", kind: Type, name: "name", leaf: true},
		{node: "method_declaration", kind: Method, name: "name", rename: explicitInterface, leaf: true},
		{node: "constructor_declaration", kind: Method, name: "name", leaf: true},
		{node: "destructor_declaration", kind: Method, prefix: "~", name: "name", leaf: true},
		{node: "operator_declaration", kind: Method, prefix: "operator ", name: "operator", leaf: true},
		{node: "conversion_operator_declaration", kind: Method, prefix: "operator ", name: "type", leaf: true},
		{node: "property_declaration", kind: Field, name: "name", rename: explicitInterface, leaf: true},
		{node: "event_declaration", kind: Field, name: "name", leaf: true},
		{node: "event_field_declaration", kind: Field, name: declared, each: "variable_declarator", leaf: true},
		{node: "field_declaration", kind: Field, name: declared, each: "variable_declarator", leaf: true},
		{node: "indexer_declaration", kind: Method, name: "parameters", prefix: "this", clean: keepNothing, leaf: true},
		{node: "local_function_statement", kind: Function, name: "name", leaf: true},
		{node: "block", skip: true},
	}
}

func rubyRules() []rule {
	return []rule{
		{node: "module", kind: Module, name: "name", clean: dotNames},
		{node: "class", kind: Class, name: "name", clean: dotNames},
		{node: "method", kind: Function, name: "name", leaf: true},
		{node: "singleton_method", kind: Method, name: "name", leaf: true},
		{node: "assignment", kind: Constant, name: "left", plain: "constant"},
		{node: "call", kind: Field, name: "arguments/#simple_symbol", when: "method=attr_accessor attr_reader attr_writer", clean: withoutColon, each: "simple_symbol", leaf: true},
		{node: "call", kind: Module, name: "arguments/#string|arguments/#constant|arguments/#scope_resolution|arguments/#simple_symbol", when: "method=describe context", clean: dotNames},
	}
}

func phpRules() []rule {
	return []rule{
		{node: "namespace_definition", kind: Module, name: "name", clean: dotNames, when: "body"},
		{node: "namespace_definition", kind: Module, name: "name", clean: dotNames, leaf: true},
		{node: "class_declaration", kind: Class, name: "name"},
		{node: "interface_declaration", kind: Interface, name: "name"},
		{node: "trait_declaration", kind: Class, name: "name"},
		{node: "enum_declaration", kind: Enum, name: "name"},
		{node: "enum_case", kind: Constant, name: "name", leaf: true},
		{node: "const_element", kind: Constant, name: "#name", leaf: true},
		{node: "property_element", kind: Field, name: "#variable_name", leaf: true},
		{node: "method_declaration", kind: Method, name: "name", leaf: true},
		{node: "function_definition", kind: Function, name: "name", leaf: true},
		{node: "function_call_expression", kind: Constant, name: "arguments/#argument/#string|arguments/#argument/#encapsed_string", when: "function=define", leaf: true},
		{node: "assignment_expression", kind: Variable, name: "left", plain: "variable_name", within: "expression_statement", leaf: true},
	}
}

func elixirRules() []rule {
	const (
		alias    = "#arguments/#alias"
		spec     = "operand/#arguments/#binary_operator/left/left/target|operand/#arguments/#binary_operator/left/target|operand/#arguments/#binary_operator/left|operand/#arguments/#call/target"
		function = "#arguments/#call/target|#arguments/#identifier|#arguments/#binary_operator/left/target|#arguments/#binary_operator/left"
	)
	return []rule{
		{node: "call", kind: Module, name: alias, when: "target=defmodule"},
		{node: "call", kind: Interface, name: alias, when: "target=defprotocol"},
		{node: "call", kind: Impl, name: ".", when: "target=defimpl", clean: protocolHeading, lends: protocolOwner},
		{node: "call", kind: Function, name: function, when: "target=def defp defguard defguardp defdelegate", clauses: "#arguments", leaf: true},
		{node: "call", kind: Macro, name: function, when: "target=defmacro defmacrop", clauses: "#arguments", leaf: true},
		{node: "call", kind: Struct, name: "target", when: "target=defstruct defexception", leaf: true},
		{node: "call", kind: Module, name: "#arguments/#string", when: "target=describe"},
		{node: "call", kind: Function, name: "#arguments/#string", when: "target=test", leaf: true},
		{node: "unary_operator", kind: Prototype, name: spec, when: "operand/target=callback macrocallback", leaf: true},
		{node: "unary_operator", kind: Type, name: spec, when: "operand/target=type typep opaque", leaf: true},
		{node: "unary_operator", skip: true},
		{node: "identifier", when: ".=end", fault: true},
	}
}

func bashRules() []rule {
	return []rule{
		{node: "function_definition", kind: Function, name: "name", leaf: true},
		{node: "variable_assignment", kind: Variable, name: "name", plain: "variable_name", unless: "command", leaf: true},
		{node: "heredoc_body", skip: true},
		{node: "command", when: "name=} fi done esac", fault: true},
		{node: "command", skip: true},
	}
}

func luaRules() []rule {
	return []rule{
		{node: "function_statement", kind: Function, name: "name", split: "_G", leaf: true},
		{node: "variable_declaration", kind: Function, name: "name", when: "value:function", split: "_G", leaf: true},
		{node: "variable_declaration", kind: Variable, name: "name", clean: plainWord, leaf: true},
	}
}

func sqlRules() []rule {
	const name = "#object_reference"
	return []rule{
		{node: "create_table", kind: Table, name: name},
		{node: "column_definition", kind: Field, name: "name|#identifier", leaf: true},
		{node: "create_view", kind: View, name: name, leaf: true},
		{node: "create_materialized_view", kind: View, name: name, leaf: true},
		{node: "create_index", kind: Index, name: "column|" + name, leaf: true},
		{node: "create_function", kind: Function, name: name, leaf: true},
		{node: "create_procedure", kind: Function, name: name, leaf: true},
		{node: "create_trigger", kind: Trigger, name: name, leaf: true},
		{node: "create_type", kind: Type, name: name, leaf: true},
		{node: "create_schema", kind: Module, name: "#identifier", leaf: true},
		{node: "select", skip: true},
		{node: "insert", skip: true},
	}
}

func htmlRules() []rule {
	return []rule{
		{node: "element", kind: Heading, name: ".", when: "#start_tag/#tag_name=h1 h2 h3 h4 h5 h6", clean: withoutTags, leaf: true},
		{node: "element", kind: Element, name: "#start_tag", prefix: "#", clean: idOf},
		{node: "script_element", skip: true},
		{node: "style_element", skip: true},
	}
}

func cssRules() []rule {
	return []rule{
		{node: "rule_set", kind: Rule, name: "#selectors"},
		{node: "media_statement", kind: Rule, name: ".", clean: beforeBrace, flat: true},
		{node: "supports_statement", kind: Rule, name: ".", clean: beforeBrace, flat: true},
		{node: "keyframes_statement", kind: Rule, prefix: "@keyframes ", name: "#keyframes_name", leaf: true},
		{node: "at_rule", kind: Rule, name: ".", clean: beforeBrace},
		{node: "declaration", skip: true},
	}
}
