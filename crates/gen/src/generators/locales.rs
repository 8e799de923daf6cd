//! Names of people, places and firms, by language. The lists are frozen with the rest of the algorithm, so they come
//! from no library, whose versions would change them. They are short, because every column has a copy.

/// The lists of one language.
#[derive(Debug)]
pub(super) struct Locale {
    /// ISO 639-1.
    pub code: &'static str,
    pub first_names: &'static str,
    pub last_names: &'static str,
    pub cities: &'static str,
    /// Beginnings, middles and ends of street names, blanks included.
    pub streets: [&'static str; 3],
    pub number_first: bool,
    /// `#` is a digit, `%` one of 1 to 9.
    pub postcode: &'static str,
    pub postcode_first: bool,
    pub phone: &'static str,
    /// Suffixes of firm names.
    pub firms: &'static str,
    pub and: &'static str,
    pub jobs: &'static str,
}

/// Splits a list into its items.
pub(super) fn items(list: &'static str) -> Vec<&'static str> {
    list.split('|').collect()
}

/// Returns the locale of this code, of which only the language counts: `de_AT` is `de`.
pub(super) fn find(code: &str) -> Option<&'static Locale> {
    let language = code.split(['_', '-']).next().unwrap_or_default();
    LOCALES.iter().find(|locale| locale.code.eq_ignore_ascii_case(language))
}

pub(super) static LOCALES: [Locale; 6] = [EN, DE, FR, ES, IT, PT];

const EN: Locale = Locale {
    code: "en",
    first_names: "Abigail|Alexander|Alice|Amelia|Andrew|Anthony|Arthur|Ava|Benjamin|Brian|Charlotte|Christopher|Claire|Daniel|Deborah|Dorothy|Edward|Eleanor|Elizabeth|Emily|Ethan|Evelyn|Frank|George|Grace|Hannah|Harry|Helen|Henry|Isabella|Jack|Jacob|James|Jennifer|Jessica|Joseph|Joshua|Karen|Kevin|Laura|Lily|Linda|Lucy|Margaret|Mark|Mary|Matthew|Megan|Michael|Nancy|Nathan|Noah|Olivia|Oscar|Patricia|Paul|Rachel|Rebecca|Richard|Robert|Ruth|Samuel|Sarah|Sophie|Stephen|Susan|Thomas|Victoria|William|Zoe",
    last_names: "Adams|Allen|Anderson|Bailey|Baker|Bennett|Brooks|Brown|Butler|Campbell|Carter|Clark|Collins|Cook|Cooper|Cox|Davis|Edwards|Evans|Fisher|Foster|Gray|Green|Hall|Harris|Hill|Howard|Hughes|Jackson|James|Jenkins|Johnson|Jones|Kelly|King|Lee|Lewis|Long|Martin|Miller|Mitchell|Moore|Morgan|Morris|Murphy|Nelson|Parker|Perry|Phillips|Powell|Price|Reed|Richardson|Roberts|Rogers|Ross|Russell|Sanders|Scott|Smith|Stewart|Taylor|Thompson|Turner|Walker|Ward|Watson|White|Williams|Wilson|Wood|Wright|Young",
    cities: "Albany|Atlanta|Austin|Boston|Buffalo|Chicago|Cleveland|Columbus|Dallas|Denver|Detroit|Fresno|Houston|Indianapolis|Kansas City|Las Vegas|Los Angeles|Memphis|Miami|Milwaukee|Minneapolis|Nashville|New Orleans|New York|Oakland|Omaha|Orlando|Philadelphia|Phoenix|Pittsburgh|Portland|Richmond|Sacramento|San Diego|San Francisco|Seattle|Tampa|Tucson|Tulsa|Washington",
    streets: [
        "",
        "Ash|Birch|Cedar|Cherry|Chestnut|Church|Elm|Forest|Franklin|Highland|Hill|Jackson|Jefferson|Lake|Lincoln|Madison|Main|Maple|Meadow|Mill|Oak|Park|Pine|Ridge|River|Spring|Spruce|Sunset|Walnut|Washington|Willow|Wilson",
        " Street| Avenue| Road| Lane| Drive| Court| Boulevard| Way",
    ],
    number_first: true,
    postcode: "#####",
    postcode_first: false,
    phone: "+1 %## 555 01##",
    firms: " Inc.| LLC| Ltd.| Group| Partners| Holdings",
    and: " & ",
    jobs: "Accountant|Actor|Analyst|Architect|Baker|Carpenter|Chef|Consultant|Designer|Doctor|Driver|Editor|Electrician|Engineer|Farmer|Gardener|Journalist|Judge|Lawyer|Librarian|Manager|Mechanic|Nurse|Painter|Pharmacist|Photographer|Pilot|Plumber|Programmer|Salesperson|Scientist|Secretary|Surgeon|Teacher|Translator|Writer",
};

const DE: Locale = Locale {
    code: "de",
    first_names: "Alexander|Andrea|Anke|Anna|Anton|Barbara|Ben|Birgit|Christian|Claudia|Daniel|Elias|Emil|Emma|Erika|Felix|Finn|Frank|Frieda|Gabriele|Greta|Hannah|Heike|Heinz|Helga|Ida|Jan|Jonas|Jörg|Jürgen|Karin|Katharina|Klaus|Lea|Leon|Lina|Lukas|Luise|Maria|Marie|Markus|Martin|Matthias|Max|Maximilian|Mia|Michael|Mila|Monika|Nico|Noah|Oskar|Paul|Peter|Petra|Sabine|Sophie|Stefan|Susanne|Thomas|Ursula|Uwe|Werner|Wolfgang",
    last_names: "Albrecht|Arnold|Bauer|Becker|Berger|Böhm|Brandt|Braun|Busch|Dietrich|Engel|Fischer|Frank|Franke|Friedrich|Fuchs|Graf|Groß|Günther|Haas|Hahn|Hartmann|Heinrich|Herrmann|Hoffmann|Hofmann|Horn|Huber|Jäger|Jung|Kaiser|Keller|Klein|Koch|Köhler|König|Kraus|Krause|Krüger|Kuhn|Lang|Lange|Lehmann|Lorenz|Ludwig|Maier|Martin|Mayer|Meier|Meyer|Möller|Müller|Neumann|Otto|Peters|Pfeiffer|Pohl|Richter|Roth|Sauer|Schäfer|Schmidt|Schmitt|Schmitz|Schneider|Scholz|Schreiber|Schröder|Schubert|Schulte|Schulz|Schumacher|Schuster|Schwarz|Seidel|Simon|Sommer|Stein|Thomas|Vogel|Vogt|Wagner|Walter|Weber|Weiß|Werner|Winkler|Winter|Wolf|Wolff|Ziegler|Zimmermann",
    cities: "Aachen|Augsburg|Berlin|Bielefeld|Bochum|Bonn|Braunschweig|Bremen|Chemnitz|Dortmund|Dresden|Duisburg|Düsseldorf|Erfurt|Essen|Frankfurt am Main|Freiburg|Gera|Göttingen|Halle|Hamburg|Hannover|Jena|Karlsruhe|Kassel|Kiel|Köln|Leipzig|Lübeck|Magdeburg|Mainz|Mannheim|München|Münster|Nürnberg|Potsdam|Rostock|Stuttgart|Ulm|Würzburg",
    streets: [
        "",
        "Ahorn|Amsel|Bach|Bahnhof|Berg|Birken|Blumen|Buchen|Burg|Drossel|Eichen|Feld|Finken|Garten|Goethe|Haupt|Jahn|Kirch|Linden|Lessing|Mozart|Mühlen|Post|Ring|Rosen|Schiller|Schul|Sonnen|Tannen|Wald|Wiesen|Ziegel",
        "straße|weg|allee|gasse",
    ],
    number_first: false,
    postcode: "%####",
    postcode_first: true,
    phone: "+49 30 23125 ###",
    firms: " GmbH| AG| KG| OHG| GmbH & Co. KG| e.K.",
    and: " & ",
    jobs: "Ärztin|Anwältin|Apotheker|Architektin|Bäcker|Buchhalterin|Dachdecker|Elektrikerin|Erzieher|Fahrerin|Friseur|Gärtnerin|Informatiker|Ingenieurin|Journalist|Kauffrau|Kellner|Köchin|Krankenpfleger|Landwirtin|Lehrer|Malerin|Mechaniker|Optikerin|Pilot|Polizistin|Redakteur|Richterin|Schreiner|Schweißerin|Steuerberater|Übersetzerin|Verkäufer|Wissenschaftlerin",
};

const FR: Locale = Locale {
    code: "fr",
    first_names: "Adrien|Agathe|Alexandre|Alice|Amélie|Antoine|Arthur|Aurélie|Baptiste|Bernard|Camille|Catherine|Céline|Charlotte|Chloé|Claire|Clément|Daniel|Élise|Emma|Éric|Étienne|Florence|François|Françoise|Gabriel|Guillaume|Hélène|Hugo|Inès|Isabelle|Jacques|Jade|Jean|Jeanne|Jules|Julie|Laurent|Léa|Léo|Louis|Louise|Lucas|Lucie|Manon|Marc|Marie|Mathieu|Michel|Monique|Nathalie|Nicolas|Olivier|Pascal|Patrick|Paul|Philippe|Pierre|Raphaël|Sébastien|Sophie|Stéphane|Sylvie|Théo|Thomas|Valérie|Vincent|Zoé",
    last_names: "André|Arnaud|Barbier|Bernard|Bertrand|Blanc|Blanchard|Bonnet|Boyer|Brun|Chevalier|Clément|Colin|David|Denis|Dubois|Dufour|Dumont|Dupont|Durand|Duval|Fabre|Faure|Fontaine|Fournier|François|Gaillard|Garnier|Gauthier|Gautier|Gérard|Girard|Giraud|Guérin|Henry|Joly|Lambert|Laurent|Leclerc|Lefebvre|Lefèvre|Legrand|Lemaire|Leroy|Lucas|Marchand|Marie|Martin|Masson|Mathieu|Mercier|Meunier|Meyer|Michel|Moreau|Morel|Morin|Muller|Nicolas|Noël|Perrin|Petit|Picard|Renard|Rey|Richard|Rivière|Robert|Robin|Roche|Rousseau|Roussel|Roux|Roy|Simon|Thomas|Vidal|Vincent",
    cities: "Aix-en-Provence|Amiens|Angers|Annecy|Avignon|Besançon|Bordeaux|Brest|Caen|Calais|Clermont-Ferrand|Colmar|Dijon|Grenoble|La Rochelle|Le Havre|Le Mans|Lille|Limoges|Lyon|Marseille|Metz|Montpellier|Mulhouse|Nancy|Nantes|Nice|Nîmes|Orléans|Paris|Pau|Perpignan|Poitiers|Reims|Rennes|Rouen|Saint-Étienne|Strasbourg|Toulouse|Tours",
    streets: [
        "rue |avenue |boulevard |place ",
        "de la Gare|de la Liberté|de la Mairie|de la Paix|de la République|de l’Église|des Acacias|des Alpes|des Cerisiers|des Écoles|des Fleurs|des Jardins|des Lilas|des Roses|des Tilleuls|du Château|du Marché|du Moulin|du Parc|du Port|du Stade|Gambetta|Jean Jaurès|Jules Ferry|Molière|Pasteur|Victor Hugo|Voltaire",
        "",
    ],
    number_first: true,
    postcode: "%####",
    postcode_first: true,
    phone: "+33 1 99 00 ## ##",
    firms: " SA| SARL| SAS| et Fils",
    and: " et ",
    jobs: "Agriculteur|Architecte|Assistante|Avocate|Boulanger|Chauffeur|Coiffeuse|Comptable|Cuisinier|Dentiste|Directrice|Électricien|Enseignante|Fleuriste|Informaticien|Infirmière|Ingénieur|Jardinier|Journaliste|Juge|Libraire|Mécanicien|Médecin|Menuisier|Musicienne|Peintre|Pharmacienne|Photographe|Pilote|Plombier|Serveuse|Traductrice|Vendeur|Vétérinaire",
};

const ES: Locale = Locale {
    code: "es",
    first_names: "Adrián|Alba|Alberto|Alejandro|Álvaro|Ana|Andrea|Ángel|Antonia|Antonio|Beatriz|Carla|Carlos|Carmen|Clara|Cristina|Daniel|David|Diego|Dolores|Elena|Eva|Fernando|Francisco|Gonzalo|Hugo|Inés|Irene|Isabel|Javier|Jesús|Jorge|José|Juan|Julia|Laura|Lucía|Luis|Manuel|Marcos|María|Marina|Mario|Marta|Martín|Mercedes|Miguel|Mónica|Nuria|Óscar|Pablo|Patricia|Paula|Pedro|Pilar|Rafael|Raquel|Rocío|Rosa|Rubén|Sara|Sergio|Silvia|Sofía|Teresa|Tomás|Valeria|Víctor",
    last_names: "Aguilar|Alonso|Álvarez|Blanco|Cabrera|Calvo|Campos|Cano|Castillo|Castro|Cortés|Crespo|Cruz|Delgado|Díaz|Díez|Domínguez|Fernández|Flores|Fuentes|Gallego|García|Garrido|Gil|Giménez|Gómez|González|Gutiérrez|Hernández|Herrera|Iglesias|Jiménez|León|López|Lozano|Marín|Márquez|Martín|Martínez|Medina|Méndez|Molina|Morales|Moreno|Muñoz|Navarro|Núñez|Ortega|Ortiz|Pascual|Peña|Pérez|Prieto|Ramírez|Ramos|Rey|Rodríguez|Romero|Rubio|Ruiz|Sánchez|Santana|Santos|Sanz|Serrano|Soto|Suárez|Torres|Vargas|Vázquez|Vega|Vidal",
    cities: "A Coruña|Albacete|Alicante|Almería|Badajoz|Barcelona|Bilbao|Burgos|Cáceres|Cádiz|Cartagena|Córdoba|Cuenca|Gijón|Girona|Granada|Huelva|Jaén|León|Lleida|Logroño|Lugo|Madrid|Málaga|Murcia|Ourense|Oviedo|Palma|Pamplona|Salamanca|San Sebastián|Santander|Segovia|Sevilla|Tarragona|Toledo|Valencia|Valladolid|Vigo|Zaragoza",
    streets: [
        "Calle |Avenida |Plaza |Paseo ",
        "Mayor|Real|Nueva|de Alcalá|de Goya|de la Constitución|de la Iglesia|de la Libertad|de la Paz|de las Flores|de los Olivos|del Carmen|del Mar|del Sol|de España|de Cervantes|de Colón|de San Antonio|de San Juan|de Santa Ana",
        "",
    ],
    number_first: false,
    postcode: "#%###",
    postcode_first: true,
    phone: "+34 %## ### ###",
    firms: " S.A.| S.L.| e Hijos| y Asociados",
    and: " y ",
    jobs: "Abogada|Actor|Administrativa|Agricultor|Arquitecta|Bibliotecaria|Camarero|Carpintero|Cocinera|Conductor|Contable|Dependienta|Diseñador|Economista|Electricista|Enfermera|Escritor|Farmacéutica|Fontanero|Fotógrafa|Informático|Ingeniera|Jardinero|Jueza|Maestra|Mecánico|Médica|Panadero|Peluquera|Periodista|Piloto|Policía|Profesora|Traductor|Veterinaria",
};

const IT: Locale = Locale {
    code: "it",
    first_names: "Alberto|Alessandra|Alessandro|Alessia|Alice|Andrea|Anna|Antonella|Antonio|Aurora|Barbara|Beatrice|Carlo|Caterina|Chiara|Claudio|Cristina|Daniele|Davide|Edoardo|Elena|Elisa|Emma|Enrico|Federica|Federico|Filippo|Francesca|Francesco|Gabriele|Giacomo|Gianluca|Ginevra|Giorgia|Giorgio|Giovanna|Giovanni|Giulia|Giuseppe|Greta|Laura|Leonardo|Lorenzo|Luca|Lucia|Luigi|Marco|Margherita|Maria|Mario|Martina|Massimo|Matteo|Michele|Nicola|Paola|Paolo|Pietro|Riccardo|Roberto|Rosa|Sara|Silvia|Simone|Sofia|Stefano|Tommaso|Valentina",
    last_names: "Amato|Barbieri|Basile|Battaglia|Bellini|Benedetti|Bernardi|Bianchi|Bianco|Bruno|Caputo|Caruso|Cattaneo|Colombo|Conte|Conti|Coppola|Costa|D’Amico|D’Angelo|De Angelis|De Luca|De Rosa|De Santis|Esposito|Farina|Ferrara|Ferrari|Ferraro|Ferri|Fiore|Fontana|Galli|Gallo|Gatti|Gentile|Giordano|Grassi|Greco|Grasso|Guerra|Leone|Lombardi|Lombardo|Longo|Mancini|Marchetti|Mariani|Marini|Marino|Martinelli|Martini|Mazza|Messina|Monti|Moretti|Morelli|Neri|Orlando|Palmieri|Parisi|Pellegrini|Riva|Rinaldi|Ricci|Rizzo|Romano|Rossi|Ruggiero|Russo|Sala|Sanna|Santoro|Serra|Silvestri|Sorrentino|Testa|Valentini|Villa|Vitale",
    cities: "Ancona|Aosta|Arezzo|Bari|Bergamo|Bologna|Bolzano|Brescia|Cagliari|Catania|Como|Cremona|Ferrara|Firenze|Foggia|Genova|L’Aquila|Lecce|Lucca|Mantova|Matera|Messina|Milano|Modena|Napoli|Novara|Padova|Palermo|Parma|Perugia|Pescara|Pisa|Ravenna|Roma|Salerno|Siena|Torino|Trento|Trieste|Verona",
    streets: [
        "Via |Viale |Piazza |Corso ",
        "Aldo Moro|Cavour|Dante|degli Ulivi|dei Mille|del Mulino|della Libertà|della Repubblica|delle Rose|Galileo Galilei|Garibaldi|Giuseppe Verdi|Leonardo da Vinci|Manzoni|Marconi|Matteotti|Mazzini|Petrarca|Roma|San Francesco|San Marco|Torino|Venezia|Vittorio Veneto",
        "",
    ],
    number_first: false,
    postcode: "#%###",
    postcode_first: true,
    phone: "+39 3## ### ####",
    firms: " S.p.A.| S.r.l.| e Figli| e Associati",
    and: " e ",
    jobs: "Agricoltore|Architetta|Attore|Autista|Avvocata|Barista|Bibliotecaria|Cameriere|Commessa|Contabile|Cuoca|Dentista|Elettricista|Falegname|Farmacista|Fotografa|Giardiniere|Giornalista|Giudice|Grafica|Idraulico|Infermiera|Informatico|Ingegnera|Insegnante|Meccanico|Medica|Musicista|Panettiere|Parrucchiera|Pilota|Pittore|Poliziotta|Scrittrice|Segretario|Traduttrice|Veterinaria",
};

const PT: Locale = Locale {
    code: "pt",
    first_names: "Afonso|Alexandre|Alice|Amélia|Ana|André|António|Aurora|Bárbara|Beatriz|Bernardo|Bruno|Camila|Carla|Carlos|Carolina|Catarina|César|Cláudia|Clara|Constança|Cristina|Daniel|David|Diana|Dinis|Diogo|Duarte|Eduardo|Elsa|Eva|Fernando|Filipa|Filipe|Francisca|Francisco|Gabriel|Gonçalo|Guilherme|Helena|Henrique|Hugo|Inês|Isabel|Joana|João|Joaquim|Jorge|José|Júlia|Lara|Laura|Leonor|Luís|Luísa|Mafalda|Manuel|Marco|Margarida|Maria|Mariana|Marta|Martim|Matilde|Miguel|Mónica|Nuno|Patrícia|Paula|Paulo|Pedro|Rafael|Raquel|Ricardo|Rita|Rodrigo|Rosa|Rui|Salvador|Santiago|Sara|Simão|Sofia|Sónia|Susana|Teresa|Tiago|Tomás|Vasco|Vera|Vicente|Vítor",
    last_names: "Abreu|Almeida|Alves|Amaral|Andrade|Antunes|Araújo|Azevedo|Baptista|Barbosa|Barros|Borges|Branco|Brito|Campos|Cardoso|Carneiro|Carvalho|Castro|Coelho|Correia|Costa|Cruz|Cunha|Dias|Domingues|Duarte|Esteves|Faria|Fernandes|Ferreira|Figueiredo|Fonseca|Freitas|Garcia|Gaspar|Gomes|Gonçalves|Guerreiro|Henriques|Jesus|Leal|Leite|Lima|Lopes|Loureiro|Lourenço|Macedo|Machado|Magalhães|Maia|Marques|Martins|Matias|Matos|Melo|Mendes|Miranda|Monteiro|Morais|Moreira|Moura|Nascimento|Neves|Nogueira|Nunes|Oliveira|Pacheco|Paiva|Pereira|Pinheiro|Pinho|Pinto|Pires|Ramos|Rebelo|Reis|Ribeiro|Rocha|Rodrigues|Sá|Santos|Silva|Simões|Soares|Sousa|Tavares|Teixeira|Torres|Valente|Vaz|Vicente|Vieira",
    cities: "Abrantes|Albufeira|Almada|Amadora|Aveiro|Barcelos|Barreiro|Beja|Braga|Bragança|Caldas da Rainha|Cascais|Castelo Branco|Chaves|Coimbra|Covilhã|Elvas|Évora|Faro|Figueira da Foz|Funchal|Guarda|Guimarães|Lagos|Leiria|Lisboa|Loulé|Matosinhos|Odivelas|Ovar|Ponta Delgada|Portalegre|Portimão|Porto|Santarém|Setúbal|Sintra|Tavira|Tomar|Torres Vedras|Viana do Castelo|Vila Nova de Gaia|Vila Real|Viseu",
    streets: [
        "Rua |Avenida |Travessa |Largo ",
        "Almirante Reis|Augusta|Camões|25 de Abril|Dom Afonso Henriques|Dom Dinis|Eça de Queirós|Fernando Pessoa|Garrett|Infante Dom Henrique|Vasco da Gama|da Alegria|da Fonte|da Igreja|da Liberdade|da Paz|da República|da Saudade|das Amoreiras|das Flores|das Oliveiras|do Carmo|do Castelo|do Comércio|do Mercado|do Sol|dos Combatentes|dos Pescadores",
        "",
    ],
    number_first: false,
    postcode: "%###-###",
    postcode_first: true,
    phone: "+351 91# ### ###",
    firms: " Lda.| S.A.| & Filhos| Unipessoal Lda.",
    and: " & ",
    jobs: "Advogada|Agricultor|Arquiteta|Bibliotecária|Bombeiro|Cabeleireira|Carpinteiro|Contabilista|Cozinheiro|Dentista|Eletricista|Enfermeira|Engenheiro|Farmacêutica|Fotógrafo|Gestora|Jardineiro|Jornalista|Juíza|Mecânico|Médica|Motorista|Padeiro|Pescador|Pintora|Polícia|Professora|Programador|Secretária|Serralheiro|Tradutora|Vendedor|Veterinária",
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn lists_hold_no_item_twice_and_none_that_is_empty() {
        for locale in &LOCALES {
            let Locale { first_names, last_names, cities, streets, firms, jobs, .. } = locale;
            for list in [first_names, last_names, cities, firms, jobs, &streets[1]] {
                let items = items(list);
                assert_eq!(items.iter().collect::<HashSet<_>>().len(), items.len(), "{list}");
                assert!(items.iter().all(|item| !item.trim().is_empty()), "{list}");
            }
        }
        assert!(find("DE_at").is_some_and(|locale| locale.code == "de") && find("xx").is_none() && find("").is_none());
    }
}
